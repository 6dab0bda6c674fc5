"""Anchor precision, recall and F1: did the entry find the entities that the question names?

    P = |found ∩ named| / |found|     R = |found ∩ named| / |named|     F1 = 2PR / (P + R)

Set precision and recall per question, averaged over questions (macro), as in Ling, Singh and Weld, Design
Challenges for Entity Linking, TACL 2015. The labels name *passages*: an anchor counts by the passages that
are about it, and an anchor that no passage is about (a discovered phrase) can be neither right nor wrong
and is left out of P. The labels hold gold passages only, so a correctly linked entity off the reasoning
path lowers P.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

__all__ = ["AnchorScores", "anchor_scores"]


@dataclass(frozen=True, slots=True)
class AnchorScores:
    """Precision, recall and F1 of one question."""

    precision: float
    recall: float
    f1: float


def anchor_scores(found: Sequence[Collection[str]], named: Collection[str]) -> AnchorScores | None:
    """Score one question's anchors.

    Args:
        found: per anchor, the ids of the passages that are about it.
        named: the gold passages that the question names.

    Returns:
        None where the question names no gold passage: there is nothing to find.
    """
    wanted = set(named)
    if not wanted:
        return None
    placed = [set(passages) for passages in found if passages]
    right = sum(1 for passages in placed if passages & wanted)
    reached = set().union(*placed) & wanted if placed else set()
    precision = right / len(placed) if placed else 0.0
    recall = len(reached) / len(wanted)
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return AnchorScores(precision=precision, recall=recall, f1=f1)
