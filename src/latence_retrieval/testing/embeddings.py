"""An embedding provider for tests and examples: no model, no network, the same vectors everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b

from latence_retrieval.text.normalise import normalise

__all__ = ["HashingEmbeddingProvider"]


class HashingEmbeddingProvider:
    """Embeds a text by hashing the three-character pieces of its normal form.

    Texts that share pieces are near each other, so that examples behave plausibly; it knows nothing of meaning.
    `calls` holds the batches that were asked for.
    """

    def __init__(self, dimension: int = 64) -> None:
        """Choose the length of the vectors."""
        self._dimension = dimension
        self.calls: list[list[str]] = []

    @property
    def dimension(self) -> int:
        """Length of every vector."""
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one vector per text; a text without letters gets a zero vector."""
        self.calls.append(list(texts))
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self._dimension
        form = normalise(text)
        padded = f" {form} " if form else ""
        for place in range(len(padded) - 2):
            digest = blake2b(padded[place : place + 3].encode("utf-8", "surrogatepass"), digest_size=8).digest()
            number = int.from_bytes(digest, "little")
            vector[(number >> 1) % self._dimension] += 1.0 if number & 1 else -1.0
        return vector
