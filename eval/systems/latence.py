"""The library under test: `retrieve_evidence` with some tiers, a variant, and perhaps other settings.

This is the one file of the harness that calls the library's evidence path.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from eval.cache import code_digest
from eval.data.records import Question
from eval.errors import SystemUnavailable
from eval.machine import library_digest
from eval.metrics.chains import FoundChain
from eval.metrics.tokens import count_tokens
from eval.stages import timed_stages
from eval.systems.base import Answer, Bench, FoundAnchor
from eval.systems.clock import Stopwatch
from eval.systems.names import SystemName, apply_overrides
from eval.systems.sidecars import built_sidecar
from eval.systems.tier2 import OncePerQuestion

if TYPE_CHECKING:
    from latence_retrieval.evidence_result import EvidenceResult

__all__ = ["TIERS", "VARIANTS", "Latence", "asks_a_model"]

TIERS: dict[str, tuple[str, ...]] = {
    "tier0": ("ann",),
    "tier1": ("alias",),
    "tier2": ("gliner2",),
    "tier0+1": ("ann", "alias"),
    "tier1+2": ("alias", "gliner2"),
    "tier0+1+2": ("ann", "alias", "gliner2"),
}

VARIANTS: dict[str, Mapping[str, Any]] = {
    "no-walk": {"walk.max_anchor_pushes": 0, "walk.max_chunk_pushes": 0, "walk.max_entity_pushes": 0},
    "one-hop": {"walk.max_hops": 1},
    "no-translation": {"weights.translated": 0},
    "no-cover": {"coverage": 0},
    "no-chains": {"max_chains": 0, "selection.completion_bonus": 0},
    "plain-selection": {"selection.completion_bonus": 0, "selection.redundancy": 0},
}
"""Parts switched off, by the settings that do it."""

DEFAULT_K = 10
"""Passages of the timed call, and of smaller budgets: the library's own default. A larger budget may hold
more."""

_DEEP_K = 200
"""Passages of the untimed call for the largest budget, which the loss ledger reads too: as many as are scored."""


def asks_a_model(name: SystemName) -> bool:
    """Return whether a system has tier 2."""
    return "gliner2" in TIERS.get(name.base, ())


class Latence:
    """One configuration of the library.

    The timed call is an adopter's: the sidecar's path, opened for this call, with the embedding and the
    first stage given. The passages asked for are as many as the harness packs from any other system.
    """

    def __init__(self, name: SystemName) -> None:
        self.name = name.text
        self._tiers = TIERS[name.base]
        self._once: OncePerQuestion | None = None
        self._overrides = {**(VARIANTS[name.variant] if name.variant else {}), **name.settings}

    def identity(self) -> Mapping[str, object]:
        """Depend on the library's whole source and on this adapter."""
        here = Path(__file__).parent
        return {
            "library": library_digest(),
            "adapter": code_digest(Path(__file__), here / "sidecars.py", here.parent / "stages.py", here / "tier2.py"),
            "overrides": self._overrides,
        }

    def prepare(self, bench: Bench) -> Mapping[str, float]:
        """Build or reuse the sidecar, read the settings, make the tiers."""
        try:
            from latence_retrieval.evidence import retrieve_evidence
            from latence_retrieval.settings import Settings
        except ImportError as error:
            raise SystemUnavailable(self.name, f"the library cannot be imported ({error})") from error
        if "ann" in self._tiers and len(self._tiers) == 1 and bench.data.vectors is None:
            raise SystemUnavailable(self.name, f"{bench.data.name} has no vectors, and tier 0 needs them")
        self._call = retrieve_evidence
        self._settings = Settings.model_validate(apply_overrides(Settings().model_dump(mode="json"), self._overrides))
        self._entry = [self._tier(part, bench) for part in self._tiers]
        self._path, figures = built_sidecar(bench)
        self._bench = bench
        graph = bench.graph
        ids = [passage.id for passage in bench.data.passages]
        self._about = {
            entity: tuple(ids[row] for row in graph.about_rows[number]) for entity, number in graph.number_of.items()
        }
        return figures

    def _tier(self, name: str, bench: Bench) -> Any:
        if name != "gliner2":
            return name
        if not bench.gliner2:
            raise SystemUnavailable(self.name, "tier 2 needs a checkpoint; give --gliner2 DIR")
        from latence_retrieval import plugins

        checkpoint = bench.gliner2
        self._once = OncePerQuestion(
            plugins.create("entry.gliner2", model=checkpoint.model, labels=checkpoint.labels, threads=1)
        )
        return self._once

    def answer(self, question: Question) -> Answer:
        """Time the default call; other budgets, and a deeper ranking where one is read, are asked for outside the clock."""
        config = self._bench.config
        given = self._given(question)
        if self._once is not None:
            self._once.forget()
        with timed_stages(perf_counter) as stages, Stopwatch() as clock:
            result = self._ask(question, given, budget=config.timed_budget, k=DEFAULT_K)
        deep = result
        if config.depth > DEFAULT_K or max(config.budgets) != config.timed_budget:
            deep = self._ask(question, given, budget=max(config.budgets), k=_DEEP_K)
        results = {max(config.budgets): deep, config.timed_budget: result}
        for budget in config.budgets:
            if budget not in results:
                results[budget] = self._ask(question, given, budget=budget, k=DEFAULT_K)
        ranking = dict.fromkeys(item.chunk_id for found in (result, deep) for item in found.ranking)
        return Answer(
            ranking=tuple(ranking)[: config.depth],
            scores=tuple(float(item.utility) for item in result.ranking),
            elapsed_ms=clock.wall_ms,
            cpu_ms=clock.cpu_ms,
            selections={budget: tuple(c.chunk.id for c in found.selection.chunks) for budget, found in results.items()},
            bounds={budget: (found.selection.value, found.selection.bound) for budget, found in results.items()},
            anchors=self._anchors(result),
            chains=self._chains(result),
            stages_ms={stage: seconds * 1e3 for stage, seconds in stages.items()},
            work={key: float(value) for key, value in result.work.model_dump().items()},
            reached={
                item.chunk_id: float(value)
                for item in deep.ranking
                if (value := item.signals.get("activation")) is not None and value > 0.0  # type: ignore[call-overload]
            },
            notes=tuple(f"{item.stage}: {item.reason}" for item in result.degradations),
        )

    def _given(self, question: Question) -> dict[str, Any]:
        """Return what an adopter has already: the query embedding and the first stage's hits."""
        if self._bench.data.vectors is None:
            return {}
        dense = self._bench.dense
        hits = dense.search(question, k=self._bench.config.first_stage_depth)
        return {"embedding": dense.embedding(question), "first_stage": hits}

    def _ask(self, question: Question, given: Mapping[str, Any], *, budget: int, k: int) -> EvidenceResult:
        return self._call(
            question.text,
            sidecar=self._path,
            budget_tokens=budget,
            k=k,
            tiers=self._entry,
            count_tokens=count_tokens,
            settings=self._settings,
            **given,
        )

    def _anchors(self, result: EvidenceResult) -> tuple[FoundAnchor, ...]:
        return tuple(
            FoundAnchor(
                entity=anchor.entity_id,
                name=anchor.name,
                passage_ids=self._about.get(anchor.entity_id, ()),
                start=-1 if anchor.start is None else anchor.start,
                end=-1 if anchor.end is None else anchor.end,
                tier=anchor.tier,
                weight=anchor.weight,
            )
            for anchor in result.anchors
        )

    def _chains(self, result: EvidenceResult) -> tuple[FoundChain, ...]:
        found = []
        for chain in result.chains:
            labels: list[str] = []
            for hop in chain.hops:
                if hop.source is not None and (not labels or labels[-1] != hop.source.name):
                    labels.append(hop.source.name)
                labels.append(hop.relation)
                if hop.target is not None:
                    labels.append(hop.target.name)
            starts = tuple(item for anchor in chain.anchor_ids for item in self._about.get(anchor, ()))
            found.append(FoundChain(anchor_passages=starts, witnesses=chain.chunk_ids, labels=tuple(labels)))
        return tuple(found)

    def close(self) -> None:
        """Nothing is held: each call opens the sidecar for itself."""
