"""Reciprocal rank at k: one over the rank of the first gold passage, 0 where none is in the first k.

    RR@k = 1 / min {i ≤ k : d_i ∈ gold}

Voorhees, TREC-8 Question Answering Track Report, 1999. Its mean over questions is the MRR.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["reciprocal_rank_at"]


def reciprocal_rank_at(ranking: Sequence[str], gold: Collection[str], *, k: int) -> float:
    """Return the reciprocal rank at k."""
    wanted = set(gold)
    for rank, item in enumerate(ranking[:k], start=1):
        if item in wanted:
            return 1.0 / rank
    return 0.0
