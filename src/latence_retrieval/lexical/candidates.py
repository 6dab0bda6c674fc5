"""Which entities to compare with a query: those whose shared keys are the rarest."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from latence_retrieval.lexical.blocking import key_weight

__all__ = ["best_candidates"]

_ROUNDING = 1e-9  # sums of the same weights may differ by less than this
_SEARCH_STEPS = 16  # a binary search costs as much as so many steps along the list
_LEAST_SHARE = 0.05  # of the heaviest: a surname of thousands beside the one entity that is called just that


def best_candidates(
    lists: Iterable[tuple[str, Sequence[int]]],
    limit: int,
    *,
    total: int,
    ids: Callable[[Sequence[int]], Sequence[str]],
    allowed: Callable[[Sequence[int]], Sequence[int]] | None = None,
) -> list[int]:
    """Return the numbers that share the most telling keys, best first.

    The sum of `key_weight` over shared keys decides, then the id. Without a filter, entities whose sum is below a
    twentieth of the heaviest are no candidates, so that common keys are not read where rare ones have answered.

    Args:
        lists: each key that the query shares with any entity, and its bearers, ascending; never empty.
        limit: how many to return at most.
        total: number of entities.
        ids: gives entity ids; asked only for those that are equal at the cut.
        allowed: gives those of some numbers that a filter lets through; asked group by group, best first, until
            there are enough.
    """
    weighed = [(key_weight(key, len(numbers), total), key, numbers) for key, numbers in lists]
    weighed.sort(key=lambda entry: (-entry[0], entry[1]))
    still = math.fsum(weight for weight, _, _ in weighed)
    sums: dict[int, float] = {}
    floor = 0.0
    for weight, _, numbers in weighed:
        if weight == 0.0:
            break
        if still < floor - _ROUNDING:  # what was not seen yet cannot become a candidate
            sums = {number: value for number, value in sums.items() if value + still >= floor - _ROUNDING}
            for number in _shared(sums, numbers):
                sums[number] += weight
        elif sums:
            known = sums.get
            for number in numbers:
                sums[number] = known(number, 0.0) + weight
        else:
            sums = dict.fromkeys(numbers, weight)
        still -= weight
        if allowed is None:
            floor = _floor(sums, limit)
    sums = {number: value for number, value in sums.items() if value >= floor}
    return _best(sums, limit, ids, allowed)


def _shared(sums: dict[int, float], numbers: Sequence[int]) -> list[int]:
    """Return the keys of `sums` that are among `numbers`, by whichever way is shorter."""
    if len(numbers) < _SEARCH_STEPS * len(sums):
        return [number for number in numbers if number in sums]
    found = []
    for number in sums:
        place = bisect_left(numbers, number)
        if place < len(numbers) and numbers[place] == number:
            found.append(number)
    return found


def _floor(sums: dict[int, float], limit: int) -> float:
    """Return what a candidate must weigh by what is known so far; it only rises."""
    if not limit:
        return math.inf
    share = _LEAST_SHARE * max(sums.values())
    return max(share, heapq.nlargest(limit, sums.values())[-1]) if len(sums) >= limit else share


def _best(
    sums: dict[int, float],
    limit: int,
    ids: Callable[[Sequence[int]], Sequence[str]],
    allowed: Callable[[Sequence[int]], Sequence[int]] | None,
) -> list[int]:
    best: list[int] = []
    ordered = sorted(sums, key=lambda number: (-sums[number], number))
    for _, group in groupby(ordered, key=lambda number: sums[number]):
        if len(best) >= limit:
            break
        tied = list(group)
        if allowed is not None:
            tied = list(allowed(tied))
        if len(best) + len(tied) > limit:
            least = heapq.nsmallest(limit - len(best), zip(ids(tied), tied, strict=True))
            tied = [number for _, number in least]
        best += tied
    return best[:limit]
