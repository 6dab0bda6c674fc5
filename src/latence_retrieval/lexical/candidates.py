"""Which entities to compare with a query: those whose shared keys are the rarest."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence

__all__ = ["best_candidates"]

_SMALL_LIST = 512  # shorter lists are always taken whole


def best_candidates(
    lists: Iterable[Sequence[int]], limit: int, *, total: int, ids: Callable[[Sequence[int]], Sequence[str]]
) -> list[int]:
    """Return the numbers that share the most telling keys.

    A key weighs ln(1 + total / bearers). The sum over shared keys decides, then the id. A long list adds no new
    candidate once `limit` candidates already weigh more than the lists still to come could give.

    Args:
        lists: for each key that the query shares with any entity, its bearers, ascending; never empty.
        limit: how many to return at most.
        total: number of entities.
        ids: gives entity ids; asked only for those that are equal at the cut.
    """
    ordered = sorted(lists, key=len)
    weights = [math.log1p(total / len(numbers)) for numbers in ordered]
    still = math.fsum(weights)
    sums: dict[int, float] = {}
    for numbers, weight in zip(ordered, weights, strict=True):
        if len(numbers) > _SMALL_LIST and len(sums) >= limit and _least(sums, limit) > still:
            for number in sums:
                place = bisect_left(numbers, number)
                if place < len(numbers) and numbers[place] == number:
                    sums[number] += weight
        elif sums:
            known = sums.get
            for number in numbers:
                sums[number] = known(number, 0.0) + weight
        else:
            sums = dict.fromkeys(numbers, weight)
        still -= weight
    return _cut(sums, limit, ids)


def _least(sums: dict[int, float], limit: int) -> float:
    return heapq.nlargest(limit, sums.values())[-1]


def _cut(sums: dict[int, float], limit: int, ids: Callable[[Sequence[int]], Sequence[str]]) -> list[int]:
    if len(sums) <= limit:
        return sorted(sums)
    least = _least(sums, limit)
    kept = sorted(number for number, value in sums.items() if value > least)
    tied = sorted(number for number, value in sums.items() if value == least)
    if len(kept) + len(tied) > limit:
        id_of = dict(zip(tied, ids(tied), strict=True))
        tied.sort(key=lambda number: id_of[number])
    return kept + tied[: limit - len(kept)]
