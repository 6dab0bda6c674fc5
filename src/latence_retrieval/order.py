"""The one total order: score descending, then id ascending; ids are read only where scores are equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby, pairwise

__all__ = ["by_score", "heaviest", "heaviest_first"]


def heaviest_first(values: Mapping[int, float]) -> list[int]:
    """Return numbers by value descending, then ascending."""
    return sorted(sorted(values), key=values.__getitem__, reverse=True)  # reversed sorting keeps equals in order


def heaviest(values: Mapping[int, float], limit: int) -> list[int]:
    """Return at most `limit` numbers by value descending, then ascending: the head of `heaviest_first`."""
    if limit < len(values):
        if limit <= 0:
            return []
        values = _reaching(values, limit)
    return heaviest_first(values)[:limit]


def _reaching(values: Mapping[int, float], limit: int) -> dict[int, float]:
    """Return the values that are at least the `limit`-th: the rest is below, and need not be told apart."""
    least = sorted(values.values(), reverse=True)[limit - 1]
    return {number: value for number, value in values.items() if value >= least}


def by_score(
    scores: Mapping[int, float], ids: Callable[[Sequence[int]], Sequence[str]], *, limit: int | None = None
) -> list[int]:
    """Return numbers by score descending, equal scores by ascending id.

    Args:
        scores: score by number.
        ids: gives the ids of numbers; called once, with the numbers whose score is not unique.
        limit: return only so many, the tie at the cut decided by id too.
    """
    if limit is not None and 0 < 2 * limit < len(scores):
        scores = _reaching(scores, limit)
    numbers = heaviest_first(scores)
    reach = numbers if limit is None else numbers[: limit + 1]
    if all(left != right for left, right in pairwise([scores[number] for number in reach])):
        return reach[:limit]
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
