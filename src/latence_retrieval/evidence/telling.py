"""The result, composed: numbers become names, ways become chains, and what fell short is said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from latence_retrieval.chains.search import Path, Step
from latence_retrieval.evidence.entering import Entered
from latence_retrieval.evidence.ranking import Ranked
from latence_retrieval.evidence.seeding import FirstStage
from latence_retrieval.query_view import QueryView
from latence_retrieval.records import Chunk
from latence_retrieval.results import (
    Anchor,
    Chain,
    Degradation,
    Homonym,
    Hop,
    RankedChunk,
    Signal,
    TierState,
    WitnessedEntity,
)
from latence_retrieval.walk import FIRST_STAGE, NO_FACT

__all__ = ["Names", "tell_anchors", "tell_chains", "tell_degradations", "tell_ranking"]

Read = TypeVar("Read")

_MAX_HOMONYMS_TOLD = 8


class Names:
    """Entities, chunks and relations by number, each batch read once."""

    def __init__(self, view: QueryView, entered: Entered, paths: Mapping[int, Path], order: Sequence[int]) -> None:
        sidecar = view.sidecar
        steps = [step for path in paths.values() for step in path.steps]
        entities = {link.entity for link, _ in entered.anchors}
        entities.update(other for link, _ in entered.anchors for other, _ in link.homonyms[:_MAX_HOMONYMS_TOLD])
        entities.update(step.source for step in steps if step.source != FIRST_STAGE)
        entities.update(step.target for step in steps if step.target is not None)
        chunks = {*order, *(step.chunk for step in steps)}
        self._witnessed: dict[int, WitnessedEntity] = {}
        self._entities = _read(sorted(entities), sidecar.entity_names)
        self.chunks: dict[int, Chunk] = _read(sorted(chunks), sidecar.chunks)
        self._relations = _read(sorted({step.relation for step in steps}), sidecar.relations)
        self._fact_ids = _read(sorted({step.fact for step in steps if step.fact != NO_FACT}), sidecar.fact_ids)

    def entity(self, number: int) -> WitnessedEntity:
        """Return an entity's id and name."""
        known = self._witnessed.get(number)
        if known is None:
            identifier, name = self._entities[number]
            known = self._witnessed[number] = WitnessedEntity(entity_id=identifier, name=name)
        return known

    def hop(self, step: Step) -> Hop:
        """Return a step in names."""
        return Hop(
            source=None if step.source == FIRST_STAGE else self.entity(step.source),
            relation=self._relations[step.relation][0],
            target=None if step.target is None else self.entity(step.target),
            chunk_id=self.chunks[step.chunk].id,
            fact_id=None if step.fact == NO_FACT else self._fact_ids[step.fact],
        )


def _read(numbers: Sequence[int], look_up: Callable[[Sequence[int]], Sequence[Read]]) -> dict[int, Read]:
    return dict(zip(numbers, look_up(numbers), strict=True)) if numbers else {}


def tell_anchors(entered: Entered, names: Names) -> tuple[Anchor, ...]:
    """Return the anchors, heaviest first, equal ones by ascending id; their homonyms likewise."""
    anchors = []
    for link, mass in entered.anchors:
        entity = names.entity(link.entity)
        span = link.span
        passed_over = (
            Homonym(entity_id=other.entity_id, name=other.name, share=share)
            for other, share in ((names.entity(number), share) for number, share in link.homonyms[:_MAX_HOMONYMS_TOLD])
        )
        anchors.append(
            Anchor(
                entity_id=entity.entity_id,
                name=entity.name,
                weight=mass,
                tier=link.tier,
                form=None if span is None else span.text,
                start=None if span is None else span.start,
                end=None if span is None else span.end,
                share=link.share,
                passed_over=tuple(sorted(passed_over, key=lambda other: (-other.share, other.entity_id))),
            )
        )
    return tuple(sorted(anchors, key=lambda anchor: (-anchor.weight, anchor.entity_id)))


def tell_chains(paths: Mapping[int, Path], names: Names) -> tuple[Chain, ...]:
    """Return the chains, best first."""
    return tuple(
        Chain(
            hops=tuple(names.hop(step) for step in path.steps),
            anchor_ids=tuple(names.entity(anchor).entity_id for anchor in path.anchors),
            score=path.score,
        )
        for path in paths.values()
    )


def tell_ranking(
    ranked: Ranked, stage: FirstStage, paths: Mapping[int, Path], names: Names, *, k: int
) -> tuple[RankedChunk, ...]:
    """Return the best `k` chunks; hits that the snapshot does not have follow, in the first stage's order."""
    told = []
    for chunk in ranked.order[:k]:
        path = paths.get(chunk)
        told.append(
            RankedChunk(
                chunk_id=names.chunks[chunk].id,
                utility=ranked.utilities.scores[chunk],
                signals=ranked.utilities.of(chunk),
                via=() if path is None else _via(path, names),
                first_stage_rank=None if stage.is_own else stage.ranks.get(chunk),
            )
        )
    weight = ranked.utilities.weights.get(Signal.SIMILARITY, 1.0)
    for identifier, score in stage.foreign[: max(0, k - len(told))]:
        told.append(RankedChunk(chunk_id=identifier, utility=weight * score, signals={Signal.SIMILARITY: score}))
    return tuple(told)


def _via(path: Path, names: Names) -> tuple[str, ...]:
    entities = [step.source for step in path.steps if step.source != FIRST_STAGE]
    return tuple(dict.fromkeys(names.entity(entity).name for entity in entities))


def tell_degradations(
    view: QueryView, notes: Sequence[str], entered: Entered, stage: FirstStage, ranked: Ranked
) -> tuple[Degradation, ...]:
    """Return what could not be done, in the order of the stages."""
    told = [Degradation(stage="query", reason=note) for note in notes]
    told += [
        Degradation(stage=f"entry.{record.tier}", reason=record.detail or record.state.value)
        for record in entered.records
        if record.state is TierState.FAILED or (record.state is TierState.LINKED and record.detail)
    ]
    if not entered.anchors:
        told.append(
            Degradation(stage="entry", reason="no anchor was found; the walk starts from the first stage alone")
        )
    if stage.foreign:
        reason = f"{len(stage.foreign)} hits are not in this snapshot; they are ranked last and cannot be packed"
        told.append(Degradation(stage="first_stage", reason=reason))
    if view.sidecar.manifest.counts.chunks == 0:
        told.append(Degradation(stage="sidecar", reason="the snapshot holds no chunk"))
    if view.embedding is None:
        told.append(
            Degradation(
                stage="utility", reason="no query embedding, or one of zeros: similarity and translated are absent"
            )
        )
    elif not view.has_similarity:
        told.append(Degradation(stage="utility", reason="the snapshot has no chunk vectors: translated is absent"))
    told += [Degradation(stage="utility", reason=note) for note in ranked.notes]
    return tuple(told)
