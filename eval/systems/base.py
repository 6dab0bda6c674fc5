"""What a system under test is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from eval.cache import Cache
from eval.config import EvalConfig
from eval.data.records import EvalSet, Question
from eval.metrics.chains import FoundChain

if TYPE_CHECKING:
    from eval.graph.entity_graph import EntityGraph
    from eval.systems.dense import DenseSearch

__all__ = ["Answer", "Bench", "FoundAnchor", "System"]


@dataclass(frozen=True, slots=True)
class FoundAnchor:
    """An entity that a system entered by.

    Attributes:
        passage_ids: the passages that are about it; empty for a phrase that no passage is about.
        start: first character of its span in the question, -1 where it has none.
        end: one past the last.
    """

    entity: str
    name: str
    passage_ids: tuple[str, ...]
    start: int = -1
    end: int = -1
    tier: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Answer:
    """One system's answer to one question. What a system does not have stays None.

    Attributes:
        ranking: passage ids, best first, at most `EvalConfig.depth`.
        selections: per budget, what the system itself kept; None where it only ranks.
        bounds: per budget, the value of its selection and the bound on any selection.
        elapsed_ms: wall time of one timed call.
        cpu_ms: processor time of the same.
        stages_ms: named parts of it.
        work: named counters.
        reached: passages that the walk gave activation to, with it, for the loss ledger; None where unknown.
        notes: what degraded, in the system's own words.
    """

    ranking: tuple[str, ...]
    elapsed_ms: float
    cpu_ms: float = 0.0
    scores: tuple[float, ...] = ()
    selections: Mapping[int, tuple[str, ...]] | None = None
    bounds: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    anchors: tuple[FoundAnchor, ...] | None = None
    chains: tuple[FoundChain, ...] | None = None
    stages_ms: Mapping[str, float] = field(default_factory=dict)
    work: Mapping[str, float] = field(default_factory=dict)
    reached: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()


@dataclass
class Bench:
    """One set, and what its systems share: the same first stage and the same entity graph for all of them."""

    data: EvalSet
    config: EvalConfig
    cache: Cache
    gliner2: str | None = None
    linker: str = "catalogue"
    _dense: DenseSearch | None = None
    _graph: EntityGraph | None = None
    _others: dict[str, Bench] = field(default_factory=dict)

    @property
    def dense(self) -> DenseSearch:
        """The dense first stage.

        Raises:
            SystemUnavailable: the set has no vectors.
        """
        from eval.systems.dense import DenseSearch

        if self._dense is None:
            self._dense = DenseSearch(self.data)
        return self._dense

    @property
    def graph(self) -> EntityGraph:
        """The entity graph that peers walk over."""
        from eval.graph.entity_graph import build_graph

        if self._graph is None:
            self._graph = build_graph(self)
        return self._graph

    def linked_by(self, linker: str) -> Bench:
        """Return the same bench with another linker; dense is shared, the graph is its own."""
        others = self._others
        if linker == self.linker:
            return self
        if linker not in others:
            others[linker] = replace(self, linker=linker, _graph=None, _others={})
        return others[linker]


class System(Protocol):
    """A system under test. `prepare` is not timed; `answer` is called once per question, in file order."""

    name: str

    def identity(self) -> Mapping[str, object]:
        """Return what its results depend on besides the set: settings and code, for the cache key."""
        ...

    def prepare(self, bench: Bench) -> Mapping[str, float]:
        """Build or open what it needs; return named figures of the build (seconds, bytes).

        Raises:
            SystemUnavailable: it cannot run on this set or machine.
        """
        ...

    def answer(self, question: Question) -> Answer:
        """Answer one question."""
        ...

    def close(self) -> None:
        """Release what `prepare` opened."""
        ...


def ranked(pairs: Sequence[tuple[str, float]]) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Split (id, score) pairs into ids and scores."""
    return tuple(item for item, _ in pairs), tuple(float(score) for _, score in pairs)
