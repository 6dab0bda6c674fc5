"""Reciprocal rank fusion: several rankings become one, by position alone.

Cormack, Clarke and Buettcher, "Reciprocal rank fusion outperforms Condorcet and individual rank learning methods",
SIGIR 2009. Scores of different channels have no common unit; ranks do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["RRF_K", "reciprocal_rank_fusion"]

RRF_K = 60
"""The constant of Cormack, Clarke and Buettcher (2009), section 2; they fixed it by a pilot and never tuned it."""


def reciprocal_rank_fusion(rankings: Iterable[Sequence[str]]) -> list[tuple[str, float]]:
    """Fuse rankings of ids.

    An id's score is the sum of 1 / (60 + rank) over the rankings that contain it, ranks counted from one, the best
    rank where a ranking repeats it. A repetition takes no rank from those behind it, and an empty ranking changes
    nothing. The order of the rankings does not matter.

    Args:
        rankings: any number of rankings, best first.

    Returns:
        Pairs of id and fused score, by score descending, then id ascending. A fused score is ordinal: it compares
        within this one result, and is no similarity.
    """
    ranks: dict[str, list[int]] = {}
    for ranking in rankings:
        for rank, identifier in enumerate(dict.fromkeys(ranking), start=1):
            ranks.setdefault(identifier, []).append(rank)
    # Ranks are summed in ascending order, so that equal sets of ranks give equal sums bit for bit.
    fused = [(identifier, sum(1.0 / (RRF_K + rank) for rank in sorted(held))) for identifier, held in ranks.items()]
    return sorted(fused, key=lambda pair: (-pair[1], pair[0]))
