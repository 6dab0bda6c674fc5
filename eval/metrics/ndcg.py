"""Normalised discounted cumulative gain at k, for binary relevance.

    DCG@k = Σ_{i ≤ k, d_i ∈ gold} 1 / log2(i + 1)        nDCG@k = DCG@k / DCG@k of the ideal ranking

Järvelin and Kekäläinen, ACM TOIS 20(4), 2002, in the form that trec_eval computes (`ndcg_cut`).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

__all__ = ["ndcg_at"]


def ndcg_at(ranking: Sequence[str], gold: Collection[str], *, k: int) -> float:
    """Return nDCG at k."""
    wanted = set(gold)
    gain = sum(1.0 / math.log2(rank + 1) for rank, item in enumerate(ranking[:k], start=1) if item in wanted)
    ideal = sum(1.0 / math.log2(rank + 1) for rank in range(1, min(k, len(wanted)) + 1))
    return gain / ideal
