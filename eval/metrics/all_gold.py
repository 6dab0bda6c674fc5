"""All-gold at k: 1 where every gold passage stands in the first k, else 0.

    all_gold@k = [gold ⊆ top_k]

All-recall (AR@k) of HippoRAG (Gutiérrez et al., NeurIPS 2024, appendix F): a multi-hop answer needs every
passage.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["all_gold_at"]


def all_gold_at(ranking: Sequence[str], gold: Collection[str], *, k: int) -> float:
    """Return 1.0 where all gold passages are in the first k, else 0.0."""
    return 1.0 if set(gold) <= set(ranking[:k]) else 0.0
