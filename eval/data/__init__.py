"""Question sets: what they hold and how the published files become one shape."""

from __future__ import annotations

from eval.data.load import load_set
from eval.data.records import EvalSet, GoldAnchor, Passage, Question, Vectors

__all__ = ["EvalSet", "GoldAnchor", "Passage", "Question", "Vectors", "load_set"]
