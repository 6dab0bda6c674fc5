"""Nearest entities to a query embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["EntityIndex"]


class EntityIndex(Protocol):
    """Approximate or exact search over the rows of `entity_vecs`.

    An adopter's own vector database fits: it answers with entity ids instead of row numbers.
    """

    @property
    def dimension(self) -> int:
        """Length of the vectors that the index holds."""
        ...

    def nearest(self, embedding: Sequence[float], k: int) -> Sequence[tuple[int | str, float]]:
        """Return at most `k` pairs of entity and cosine in [-1, 1], best first.

        An entity is its number in the snapshot (`int`) or its id (`str`). Fewer than `k` come back where
        fewer are there; k = 0 gives none. Equal cosines are ordered by ascending number or id. The
        embedding is finite and of the right dimension: the caller has checked.
        """
        ...
