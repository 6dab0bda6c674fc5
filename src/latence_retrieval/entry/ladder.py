"""Run the tiers in order and keep a record of each: what one could not do, the others still answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from latence_retrieval.errors import MissingExtraError, TierError, TierUnavailableError
from latence_retrieval.ports.entry_tier import EntryRequest, EntryTier, Link
from latence_retrieval.results import TierRecord, TierState, UnlinkedSpan

__all__ = ["LadderOutcome", "run_ladder"]


@dataclass(frozen=True, slots=True)
class LadderOutcome:
    """All links in the order of the tiers, one record a tier, and relation probabilities if a tier gave them."""

    links: tuple[Link, ...]
    records: tuple[TierRecord, ...]
    relations: Mapping[str, float] | None


def run_ladder(tiers: Sequence[EntryTier], request: EntryRequest, *, strict: bool) -> LadderOutcome:
    """Run each tier once.

    Args:
        tiers: in the order in which they run; a tier sees nothing of the others' links but `relation_labels`.
        request: what the tiers may look at.
        strict: raise what a tier raises, instead of recording it.

    Raises:
        MissingExtraError: strict, and a tier's package is absent.
        TierError: strict, and a tier raised.
    """
    links: list[Link] = []
    records: list[TierRecord] = []
    relations: Mapping[str, float] | None = None
    for tier in tiers:
        try:
            outcome = tier.enter(request)
        except TierUnavailableError as error:
            records.append(TierRecord(tier=tier.name, state=TierState.SKIPPED, detail=str(error)))
            continue
        except Exception as error:
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
        records.append(
            TierRecord(
                tier=tier.name,
                state=TierState.LINKED if outcome.links else TierState.NOTHING,
                links=len(outcome.links),
                detail="; ".join(outcome.notes) or None,
                unlinked=tuple(
                    UnlinkedSpan(text=span.text, start=span.start, end=span.end, label=span.label)
                    for span in outcome.unlinked
                ),
            )
        )
    return LadderOutcome(tuple(links), tuple(records), relations)
