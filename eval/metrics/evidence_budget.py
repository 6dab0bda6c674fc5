"""Evidence under a budget: is the whole gold set inside what fits into so many tokens?

    evidence@B = [gold ⊆ S_B]     S_B: the passages that the system hands over under a budget of B tokens

A system that selects is measured by its own selection, recounted here: a selection over its budget counts
as 0. A system that only ranks is packed: down the ranking, each passage that still fits is taken. Skipping
what does not fit, rather than stopping there, is the stronger form of packing, so that no baseline is made
weak.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

__all__ = ["evidence_within", "pack"]


def pack(ranking: Sequence[str], *, budget: int, costs: Mapping[str, int]) -> tuple[str, ...]:
    """Return what packing the ranking keeps, in its order; `costs` are tokens by passage id."""
    kept: list[str] = []
    left = budget
    for item in ranking:
        if costs[item] <= left:
            kept.append(item)
            left -= costs[item]
    return tuple(kept)


def evidence_within(
    selected: Collection[str], gold: Collection[str], *, budget: int, costs: Mapping[str, int]
) -> float:
    """Return 1.0 where the selection keeps to the budget and holds every gold passage, else 0.0."""
    chosen = set(selected)
    if sum(costs[item] for item in chosen) > budget:
        return 0.0
    return 1.0 if set(gold) <= chosen else 0.0
