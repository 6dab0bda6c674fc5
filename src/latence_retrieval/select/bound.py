"""How much any selection under the budget could be worth at most."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["upper_bound"]


def upper_bound(
    worths: Sequence[float],
    tokens: Sequence[int],
    chains: Sequence[tuple[frozenset[int], float]],
    *,
    budget_tokens: int,
) -> float:
    """Return an upper bound of the selection's objective.

    Redundancy only takes away, so it is left out. A chain's bonus is spread evenly over its witnesses: a set that
    completes the chain holds all the parts, any other set holds at least nothing. What remains is a knapsack, and its
    fractional relaxation (Dantzig 1957) bounds it.
    """
    padded = list(worths)
    for chain, bonus in chains:
        for place in chain:
            padded[place] += bonus / len(chain)
    free = sum(worth for worth, cost in zip(padded, tokens, strict=True) if cost <= 0 and worth > 0.0)
    rest = sorted(
        ((worth, cost) for worth, cost in zip(padded, tokens, strict=True) if 0 < cost <= budget_tokens),
        key=lambda pair: -pair[0] / pair[1],
    )
    left = float(budget_tokens)
    total = free
    for worth, cost in rest:
        if left <= 0.0 or worth <= 0.0:
            break
        part = min(1.0, left / cost)
        total += worth * part
        left -= part * cost
    return total
