"""From texts to vectors: the adopter's own embedding model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

__all__ = ["EmbeddingProvider"]


class EmbeddingProvider(Protocol):
    """Embeds texts, wherever the model runs. One batch is one call: a provider may be paid by the round trip."""

    @property
    def dimension(self) -> int:
        """Length of every vector it returns; known without a call."""
        ...

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return one vector of finite numbers per text, in order; none for no texts.

        Equal texts get equal vectors. The length of a vector means nothing: cosines are compared.
        """
        ...
