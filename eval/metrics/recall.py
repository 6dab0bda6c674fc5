"""Recall at k: the share of the gold passages that stand in the first k.

    recall@k = |top_k ∩ gold| / |gold|

Manning, Raghavan and Schütze, Introduction to Information Retrieval (2008), section 8.4. The multi-hop papers
(HippoRAG, NeurIPS 2024; HippoRAG 2, ICML 2025) report it at 2 and 5.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["recall_at"]


def recall_at(ranking: Sequence[str], gold: Collection[str], *, k: int) -> float:
    """Return recall at k."""
    return len(set(ranking[:k]) & set(gold)) / len(set(gold))
