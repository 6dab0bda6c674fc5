"""Chunks, their words and their vectors in memory: the reference for the chunk ports."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from latence_retrieval.errors import DimensionMismatchError
from latence_retrieval.lexical.bm25 import Bm25
from latence_retrieval.lexical.memory_postings import MemoryPostings
from latence_retrieval.lexical.terms import ANALYSERS, Analyser
from latence_retrieval.memory.vector_rows import VectorRows
from latence_retrieval.ports.stores import ChunkFilter, Ranked, TenantId, canonical_id
from latence_retrieval.records import Chunk

__all__ = ["MemoryChunkStore"]


class _Corpus:
    """One tenant's chunks. Numbers ascend and are not used again, as the posting lists want it."""

    def __init__(self, analyser: Analyser, vectors: VectorRows | None) -> None:
        self.postings = MemoryPostings(analyser=analyser)
        self.vectors = vectors
        self.by_number: dict[int, Chunk] = {}
        self.number_of: dict[str, int] = {}
        self.of_document: dict[str | None, set[str]] = {}
        self._next = 0

    def put(self, chunk: Chunk, vector: Sequence[float] | None) -> None:
        self.remove(chunk.id)
        number, self._next = self._next, self._next + 1
        self.by_number[number] = chunk.model_copy(update={"metadata": dict(chunk.metadata)})
        self.number_of[chunk.id] = number
        self.of_document.setdefault(chunk.document_id, set()).add(chunk.id)
        self.postings.add(number, _indexed_text(chunk))
        if self.vectors is not None and vector is not None:
            self.vectors.put(chunk.id, vector)

    def remove(self, identifier: str) -> None:
        number = self.number_of.pop(identifier, None)
        if number is None:
            return
        chunk = self.by_number.pop(number)
        siblings = self.of_document[chunk.document_id]
        siblings.discard(identifier)
        if not siblings:
            del self.of_document[chunk.document_id]
        self.postings.remove(number, _indexed_text(chunk))
        if self.vectors is not None:
            self.vectors.remove(identifier)

    def allowed(self, where: ChunkFilter | None) -> set[int] | None:
        if where is None:
            return None
        return {number for number, chunk in self.by_number.items() if where.allows(chunk)}

    def ids(self, numbers: Sequence[int]) -> list[str]:
        return [self.by_number[number].id for number in numbers]


class MemoryChunkStore:
    """`ChunkReader` and `ChunkWriter` in dictionaries; safe for threads. Uses numpy where it is installed."""

    def __init__(
        self,
        dimension: int | None = None,
        *,
        analyser: Analyser = ANALYSERS["english-1"],
        use_numpy: bool | None = None,
    ) -> None:
        """Start empty.

        Args:
            dimension: length of every vector; None for a store without vectors.
            analyser: makes index terms of chunks and queries.
            use_numpy: False keeps to the standard library; None uses numpy where it is installed.
        """
        self._dimension = dimension
        self._analyser = analyser
        self._use_numpy = use_numpy
        self._tenants: dict[str, _Corpus] = {}
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int | None:
        """Length of the stored vectors; None for a store without."""
        return self._dimension

    async def put_chunks(self, tenant: TenantId, rows: Sequence[tuple[Chunk, Sequence[float] | None]]) -> None:
        """Store chunks with their vectors; all or, where one has another dimension, none."""
        for _, vector in rows:
            if vector is not None and len(vector) != self._dimension:
                raise DimensionMismatchError("vector", expected=self._dimension or 0, actual=len(vector))
        with self._lock:
            corpus = self._tenants.get(canonical_id(tenant)) or self._empty()
            self._tenants[canonical_id(tenant)] = corpus
            for chunk, vector in rows:
                corpus.put(chunk, vector)

    async def remove_document(self, tenant: TenantId, document_id: str) -> None:
        """Remove all chunks of a document."""
        with self._lock:
            corpus = self._tenants.get(canonical_id(tenant))
            if corpus is not None:
                for identifier in sorted(corpus.of_document.get(document_id, ())):
                    corpus.remove(identifier)

    async def chunks(self, tenant: TenantId, ids: Sequence[str]) -> list[Chunk | None]:
        """Return one chunk or None per id."""
        with self._lock:
            corpus = self._tenants.get(canonical_id(tenant)) or self._empty()
            numbers = [corpus.number_of.get(identifier) for identifier in ids]
            return [None if number is None else corpus.by_number[number] for number in numbers]

    async def nearest_chunks(
        self, tenant: TenantId, embedding: Sequence[float], k: int, *, where: ChunkFilter | None = None
    ) -> list[Ranked]:
        """Return the `k` nearest chunks that have a vector."""
        with self._lock:
            corpus = self._tenants.get(canonical_id(tenant))
            if corpus is None or corpus.vectors is None:
                return []
            allowed = corpus.allowed(where)
            ids = None if allowed is None else corpus.ids(sorted(allowed))
            found = corpus.vectors.nearest(embedding, k, allowed=ids)
            return [Ranked(identifier, (1.0 + cosine) / 2.0) for identifier, cosine in found]

    async def match_chunks(
        self, tenant: TenantId, query: str, k: int, *, where: ChunkFilter | None = None
    ) -> list[Ranked]:
        """Return the `k` best chunks by BM25."""
        with self._lock:
            corpus = self._tenants.get(canonical_id(tenant))
            if corpus is None:
                return []
            found = Bm25(corpus.postings).top(
                self._analyser.terms(query), k, allowed=corpus.allowed(where), ids=corpus.ids
            )
            return [Ranked(corpus.by_number[number].id, score) for number, score in found]

    def _empty(self) -> _Corpus:
        vectors = None
        if self._dimension is not None:
            vectors = VectorRows(self._dimension, use_numpy=self._use_numpy)
        return _Corpus(self._analyser, vectors)


def _indexed_text(chunk: Chunk) -> str:
    return f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text
