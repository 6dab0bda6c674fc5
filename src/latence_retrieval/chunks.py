"""`ChunkRetriever`: a query string becomes ranked chunks, by the meaning of their vectors and by their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from latence_retrieval.blocking_calls import run_blocking
from latence_retrieval.errors import InvalidInputError
from latence_retrieval.hybrid import (
    Call,
    both,
    check_dimensions,
    checked_call,
    checked_records,
    embed_query,
    fuse_channels,
)
from latence_retrieval.ports.embedding import EmbeddingProvider
from latence_retrieval.ports.stores import ChunkFilter, ChunkReader, Ranked, TenantId
from latence_retrieval.retrieval_results import ChunkRetrievalResult, RetrievalMode, ScoredChunk

__all__ = ["ChunkRetriever"]


class ChunkRetriever:
    """Finds the chunks that answer a string.

    Two channels: a semantic one embeds the query and searches the chunks' vectors; a lexical one ranks all chunks
    that share a word with the query by BM25, exactly. They are fused by reciprocal rank.

    What to plan around: a chunk without a vector is invisible to the semantic channel, and a corpus without any
    answers a semantic query with nothing, since having a vector is a fact about each chunk and no setting; the
    result's `semantic_count` shows it. The words of a query must stand in a chunk in the same normal form (and
    stem, where the store has a stemmer): BM25 knows no synonyms and no misspellings.
    """

    def __init__(self, *, embeddings: EmbeddingProvider, chunks: ChunkReader) -> None:
        """Put the ports together; calls none of them.

        Args:
            embeddings: embeds queries with the model that made the stored vectors.
            chunks: chunks by id, vector and words.

        Raises:
            DimensionMismatchError: provider and chunks have different dimensions.
        """
        check_dimensions(embeddings, chunks.dimension, store="chunks")
        self._embeddings: EmbeddingProvider | None = embeddings
        self._chunks = chunks

    @classmethod
    def lexical_only(cls, *, chunks: ChunkReader) -> Self:
        """Return a retriever without embeddings; its default mode is lexical, any other raises."""
        retriever = cls.__new__(cls)
        retriever._embeddings = None  # noqa: SLF001 - of this very class
        retriever._chunks = chunks  # noqa: SLF001
        return retriever

    async def retrieve_chunks(
        self,
        query: str,
        tenant: TenantId,
        *,
        k: int = 10,
        mode: RetrievalMode | str | None = None,
        where: ChunkFilter | None = None,
        embedding: Sequence[float] | None = None,
    ) -> ChunkRetrievalResult:
        """Return the best `k` chunks of a tenant.

        Args:
            query: a question or other text.
            tenant: whose chunks.
            k: how many at most; 0 gives none.
            mode: the channels to run; None for both, or for the lexical one where there is no provider. `LEXICAL`
                makes no embedding call.
            where: which chunks may be found, in either channel and before `k`.
            embedding: the query's vector, where the caller has it already; then no embedding call is made.

        Raises:
            BlankQueryError: the query is only white space.
            InvalidInputError: an argument of another type, a negative `k`, an unknown mode or one that this retriever
                lacks, or NaN or infinity in `embedding`.
            DimensionMismatchError: `embedding`, or what the provider returned, has another dimension.
        """
        call = checked_call(
            query,
            tenant,
            k=k,
            mode=mode,
            embedding=embedding,
            dimension=self._chunks.dimension,
            has_embeddings=self._embeddings is not None,
        )
        if where is not None and not isinstance(where, ChunkFilter):
            raise InvalidInputError("where", f"is {where!r}", fix="give a ChunkFilter")
        if k == 0:
            return ChunkRetrievalResult(query=call.query, mode=call.mode)
        semantic: list[Ranked] | None = None
        lexical: list[Ranked] | None = None
        if call.mode is RetrievalMode.LEXICAL:
            lexical = await self._matching(call, where)
        elif call.mode is RetrievalMode.SEMANTIC:
            semantic = await self._nearest(call, where)
        else:
            semantic, lexical = await both(self._nearest(call, where), self._matching(call, where))
        return await self._result(call, semantic, lexical)

    def retrieve_chunks_blocking(
        self,
        query: str,
        tenant: TenantId,
        *,
        k: int = 10,
        mode: RetrievalMode | str | None = None,
        where: ChunkFilter | None = None,
        embedding: Sequence[float] | None = None,
    ) -> ChunkRetrievalResult:
        """Do what `retrieve_chunks` does, from synchronous code, inside a running event loop or outside.

        The ports run on one loop in a thread of the library's own (`blocking_calls`).
        """
        return run_blocking(self.retrieve_chunks(query, tenant, k=k, mode=mode, where=where, embedding=embedding))

    async def _nearest(self, call: Call, where: ChunkFilter | None) -> list[Ranked]:
        if self._embeddings is None or self._chunks.dimension is None:
            return []
        vector = await embed_query(self._embeddings, call, dimension=self._chunks.dimension)
        return await self._chunks.nearest_chunks(call.tenant, vector, call.depth, where=where)

    async def _matching(self, call: Call, where: ChunkFilter | None) -> list[Ranked]:
        return await self._chunks.match_chunks(call.tenant, call.text, call.depth, where=where)

    async def _result(
        self, call: Call, semantic: list[Ranked] | None, lexical: list[Ranked] | None
    ) -> ChunkRetrievalResult:
        fused = fuse_channels(semantic, lexical, call.k)
        ids = [place.id for place in fused]
        answered = (
            checked_records(await self._chunks.chunks(call.tenant, ids), ids, port="chunks.chunks()") if ids else ()
        )
        held = {chunk.id: chunk for chunk in answered if chunk is not None}
        return ChunkRetrievalResult(
            query=call.query,
            mode=call.mode,
            truncated=call.is_cut,
            semantic_count=None if semantic is None else len(semantic),
            lexical_count=None if lexical is None else len(lexical),
            dangling=tuple(place.id for place in fused if place.id not in held),
            matches=tuple(
                ScoredChunk(
                    # The one mutable field is copied, so that nobody can change a store through a result.
                    chunk=held[place.id].model_copy(update={"metadata": dict(held[place.id].metadata)}),
                    score=place.score,
                    semantic=place.semantic,
                    lexical=place.lexical,
                )
                for place in fused
                if place.id in held
            ),
        )
