"""Which entities to compare with a query: those whose shared keys are the rarest."""

from __future__ import annotations

import heapq
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from latence_retrieval.lexical.blocking import key_weight

__all__ = ["best_candidates"]

_SMALL_LIST = 512  # shorter lists are always taken whole


def best_candidates(
    lists: Iterable[tuple[str, Sequence[int]]],
    limit: int,
    *,
    total: int,
    ids: Callable[[Sequence[int]], Sequence[str]],
    allowed: Callable[[Sequence[int]], Sequence[int]] | None = None,
) -> list[int]:
    """Return the numbers that share the most telling keys, best first.

    The sum of `key_weight` over shared keys decides, then the id. Without a filter, a long list adds no new
    candidate once `limit` candidates already weigh more than the lists still to come could give.

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
    for weight, _, numbers in weighed:
        if weight == 0.0:
            break
        if allowed is None and len(numbers) > _SMALL_LIST and len(sums) >= limit and _least(sums, limit) > still:
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
    if allowed is None and len(sums) > limit > 0:
        least = _least(sums, limit)
        sums = {number: value for number, value in sums.items() if value >= least}
    return _best(sums, limit, ids, allowed)


def _least(sums: dict[int, float], limit: int) -> float:
    return heapq.nlargest(limit, sums.values())[-1] if limit else math.inf


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
            id_of = dict(zip(tied, ids(tied), strict=True))
            tied.sort(key=lambda number: id_of[number])
        best += tied
    return best[:limit]
