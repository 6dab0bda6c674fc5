"""The one total order: score descending, then id ascending; ids are read only where scores are equal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby

__all__ = ["by_score"]


def by_score(
    scores: Mapping[int, float], ids: Callable[[Sequence[int]], Sequence[str]], *, limit: int | None = None
) -> list[int]:
    """Return numbers by score descending, equal scores by ascending id.

    Args:
        scores: score by number.
        ids: gives the ids of numbers; called once, with the numbers whose score is not unique.
        limit: return only so many, the tie at the cut decided by id too.
    """
    numbers: Iterable[int] = sorted(scores, key=lambda number: (-scores[number], number))
    ordered: list[int] = []
    for _, group in groupby(numbers, key=lambda number: scores[number]):
        if limit is not None and len(ordered) >= limit:
            break
        tied = list(group)
        if len(tied) > 1:
            id_of = dict(zip(tied, ids(tied), strict=True))
            tied.sort(key=lambda number: id_of[number])
        ordered += tied
    return ordered if limit is None else ordered[:limit]
