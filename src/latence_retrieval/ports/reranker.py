"""Scores passages against a question with a model of the caller's choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

__all__ = ["Reranker"]


@runtime_checkable
class Reranker(Protocol):
    """Registered as plugins `rerank.<name>`. Constructing loads nothing; calls are safe from threads."""

    @property
    def name(self) -> str:
        """Short name that results carry."""
        ...

    def rerank_scores(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one finite score per passage, in order: higher is better, on the model's own scale."""
        ...
