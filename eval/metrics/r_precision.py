"""R-precision: precision at R, where R is the number of gold passages.

    Rprec = |top_R ∩ gold| / R

Buckley and Voorhees, Retrieval System Evaluation, in TREC: Experiment and Evaluation in IR (2005). It asks
of each question exactly as many passages as it needs, so two-hop and four-hop questions are comparable.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["r_precision"]


def r_precision(ranking: Sequence[str], gold: Collection[str]) -> float:
    """Return R-precision."""
    wanted = set(gold)
    return len(set(ranking[: len(wanted)]) & wanted) / len(wanted)
