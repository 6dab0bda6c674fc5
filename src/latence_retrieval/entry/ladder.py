"""Run the tiers in order and keep a record of each: what one could not do, the others still answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import index
from pathlib import Path

from latence_retrieval.errors import MissingExtraError, SidecarError, TierError, TierUnavailableError
from latence_retrieval.ports.entry_tier import EntryRequest, EntryTier, Link, TierOutcome
from latence_retrieval.results import TierRecord, TierState, UnlinkedSpan

__all__ = ["LadderOutcome", "run_ladder"]


@dataclass(frozen=True, slots=True)
class LadderOutcome:
    """All links in the order of the tiers, one record a tier, and relation probabilities if a tier gave them."""

    links: tuple[Link, ...]
    records: tuple[TierRecord, ...]
    relations: Mapping[str, float] | None


def run_ladder(
    tiers: Sequence[EntryTier], request: EntryRequest, *, entities: int, snapshot: Path, strict: bool
) -> LadderOutcome:
    """Run each tier once.

    Args:
        tiers: in the order in which they run; a tier sees nothing of the others' links but `relation_labels`.
        request: what the tiers may look at.
        entities: how many the snapshot has; a link to another is the tier's failure.
        snapshot: where it is; what is wrong with it is no tier's failure.
        strict: raise what a tier raises, instead of recording it.

    Raises:
        SidecarError: a tier's look-up found the snapshot damaged.
        MissingExtraError: strict, and a tier's package is absent.
        TierError: strict, and a tier raised.
    """
    links: list[Link] = []
    records: list[TierRecord] = []
    relations: Mapping[str, float] | None = None
    for tier in tiers:
        try:
            outcome = _checked(tier.enter(request), request, entities)
            record = _record(tier.name, outcome)
        except TierUnavailableError as error:
            records.append(TierRecord(tier=tier.name, state=TierState.SKIPPED, detail=str(error)))
            continue
        except Exception as error:
            if isinstance(error, SidecarError) and Path(error.path).is_relative_to(snapshot):
                raise
            if strict:
                if isinstance(error, MissingExtraError):
                    raise
                raise TierError(tier.name, error) from error
            detail = str(error) if isinstance(error, MissingExtraError) else f"{type(error).__name__}: {error}"
            records.append(TierRecord(tier=tier.name, state=TierState.FAILED, detail=detail))
            continue
        links += outcome.links
        if outcome.relations is not None:
            relations = outcome.relations
        records.append(record)
    return LadderOutcome(tuple(links), tuple(records), relations)


def _record(tier: str, outcome: TierOutcome) -> TierRecord:
    return TierRecord(
        tier=tier,
        state=TierState.LINKED if outcome.links else TierState.NOTHING,
        links=len(outcome.links),
        detail="; ".join(outcome.notes) or None,
        unlinked=tuple(
            UnlinkedSpan(text=span.text, start=span.start, end=span.end, label=span.label) for span in outcome.unlinked
        ),
    )


def _checked(outcome: object, request: EntryRequest, entities: int) -> TierOutcome:
    """Return the outcome with plain integers for entities, or raise ValueError: a tier may be anybody's code."""
    if not isinstance(outcome, TierOutcome):
        raise TypeError(f"it returned {outcome!r}, expected a TierOutcome")
    links = []
    for link in outcome.links:
        entity = index(link.entity)
        if not all(0 <= index(number) < entities for number in (entity, *(number for number, _ in link.homonyms))):
            raise ValueError(f"it links entity {entity}, or a homonym, that the snapshot does not have")
        if not (math.isfinite(link.weight) and link.weight >= 0.0):
            raise ValueError(f"it links entity {entity} with weight {link.weight}")
        if not all(0.0 <= share <= 1.0 for share in (link.share, *(share for _, share in link.homonyms))):
            raise ValueError(f"it links entity {entity} with a share outside 0 to 1")
        span = link.span
        if span is not None and not 0 <= index(span.start) <= index(span.end) <= len(request.query):
            raise ValueError(
                f"it links entity {entity} by characters {span.start} to {span.end}, which the query lacks"
            )
        links.append(link if type(link.entity) is int else replace(link, entity=entity))
    if outcome.relations is not None and not all(math.isfinite(value) for value in outcome.relations.values()):
        raise ValueError("it gives a relation a probability that is no finite number")
    return replace(outcome, links=tuple(links))
