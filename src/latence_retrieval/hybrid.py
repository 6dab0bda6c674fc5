"""What the two hybrid surfaces share: checks before any work, the query's embedding, and fusion."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from latence_retrieval.arguments import check_tenant, checked_count, checked_query, writable
from latence_retrieval.errors import DimensionMismatchError, InvalidInputError
from latence_retrieval.fuse import reciprocal_rank_fusion
from latence_retrieval.ports.embedding import EmbeddingProvider
from latence_retrieval.ports.stores import Ranked, TenantId
from latence_retrieval.retrieval_results import RetrievalMode
from latence_retrieval.vectors import checked_embedding

__all__ = [
    "FUSION_DEPTH",
    "MAX_QUERY_CHARACTERS",
    "Call",
    "Fused",
    "both",
    "check_dimensions",
    "checked_call",
    "checked_records",
    "embed_query",
    "fuse_channels",
]

FUSION_DEPTH = 20
"""How many each channel ranks for a hybrid answer, where `k` is smaller; so that the first places do not depend on
`k`. Of 5 to 1000, the depth whose recall at 5 is best over three question sets (adr/0011)."""


First = TypeVar("First")
Second = TypeVar("Second")
Answered = TypeVar("Answered")


MAX_QUERY_CHARACTERS = 10_000
"""Characters of a query that are looked at: some 1,600 words, so that work is bounded for a query of any length."""


class Fused(NamedTuple):
    """One id after fusion, with its score in each channel; None where the channel did not rank it."""

    id: str
    score: float
    semantic: float | None
    lexical: float | None


def check_dimensions(embeddings: EmbeddingProvider, stored: int | None, *, store: str) -> None:
    """Refuse a provider and a store whose vectors could never be compared.

    Raises:
        DimensionMismatchError: the dimensions differ.
    """
    if stored is not None and embeddings.dimension != stored:
        raise DimensionMismatchError(
            "embeddings",
            expected=stored,
            actual=embeddings.dimension,
            fix=f"give the model that the vectors in {store} were made with, or index them again with this one",
        )


class Call(NamedTuple):
    """What a surface was asked, checked.

    Attributes:
        query: as it is given back: lone surrogates, which no encoding can write, are U+FFFD.
        text: the part of it that is looked at.
        depth: how many each channel ranks; 0 where nothing is asked for.
        embedding: the caller's own, if any.
    """

    query: str
    text: str
    tenant: TenantId
    k: int
    mode: RetrievalMode
    depth: int
    embedding: list[float] | None

    @property
    def is_cut(self) -> bool:
        """Whether only the beginning of the query is looked at."""
        return len(self.query.strip()) > MAX_QUERY_CHARACTERS


def checked_call(
    query: str,
    tenant: TenantId,
    *,
    k: int,
    mode: RetrievalMode | str | None,
    embedding: Sequence[float] | None,
    dimension: int | None,
    has_embeddings: bool,
) -> Call:
    """Check what both surfaces are called with, before any work.

    Args:
        query: as the caller gave it, and so the others.
        tenant: whose.
        k: how many are asked for.
        mode: the channels, or None for the default.
        embedding: the query's vector, where the caller has it.
        dimension: of the stored vectors; None where there are none.
        has_embeddings: whether there is an embedding provider.

    Raises:
        BlankQueryError: nothing but white space.
        InvalidInputError: a query or tenant of another type, `k` negative or no integer, a mode that is none or that
            needs the provider that is not there, NaN or infinity in `embedding`.
        DimensionMismatchError: `embedding` has another dimension.
    """
    asked = writable(checked_query(query))
    check_tenant(tenant)
    checked_count("k", k)
    chosen = _chosen_mode(mode, has_embeddings=has_embeddings)
    given = None if embedding is None else checked_embedding(embedding, dimension, "embedding")
    depth = max(k, FUSION_DEPTH) if chosen is RetrievalMode.HYBRID and k else k
    return Call(asked, asked.strip()[:MAX_QUERY_CHARACTERS], tenant, k, chosen, depth, given)


def _chosen_mode(mode: RetrievalMode | str | None, *, has_embeddings: bool) -> RetrievalMode:
    """Return the mode to run: the default is hybrid, and lexical where there is no embedding provider.

    Raises:
        InvalidInputError: no such mode, or one that needs the provider that is not there.
    """
    if mode is None:
        return RetrievalMode.HYBRID if has_embeddings else RetrievalMode.LEXICAL
    try:
        chosen = RetrievalMode(mode)
    except ValueError:
        modes = ", ".join(repr(known.value) for known in RetrievalMode)
        raise InvalidInputError("mode", f"is {mode!r}", fix=f"give one of {modes}") from None
    if chosen is not RetrievalMode.LEXICAL and not has_embeddings:
        raise InvalidInputError(
            "mode",
            f"is {chosen.value!r}, and this retriever is lexical only",
            fix="build it with an embedding provider, or ask for 'lexical'",
        )
    return chosen


async def embed_query(provider: EmbeddingProvider, call: Call, *, dimension: int) -> list[float]:
    """Return the caller's own embedding of the query, or ask the provider for one.

    Raises:
        InvalidInputError: the provider's has NaN or infinity in it, or is not one vector.
        DimensionMismatchError: the provider's has another dimension.
    """
    if call.embedding is not None:
        return call.embedding
    vectors = await provider.embed([call.text])
    if not hasattr(vectors, "__len__") or isinstance(vectors, (str, Mapping)) or len(vectors) != 1:
        count = f"{len(vectors)} vectors" if hasattr(vectors, "__len__") else type(vectors).__name__
        raise InvalidInputError("embeddings", f"returned {count} for one text", fix="repair the provider's embed()")
    return checked_embedding(vectors[0], dimension, "embeddings.embed(query)")


def checked_records(answer: Sequence[Answered], asked: Sequence[str], *, port: str) -> Sequence[Answered]:
    """Return what a store answered: one record or None for each id.

    Raises:
        InvalidInputError: it answered anything else.
    """
    if not isinstance(answer, (list, tuple)) or len(answer) != len(asked):
        told = f"{len(answer)} records" if isinstance(answer, (list, tuple)) else type(answer).__name__
        raise InvalidInputError(
            port, f"returned {told} for {len(asked)} ids", fix="repair the store: one or None an id"
        )
    return answer


async def both(first: Coroutine[Any, Any, First], second: Coroutine[Any, Any, Second]) -> tuple[First, Second]:
    """Run two channels at once; where one fails, cancel the other and raise what it raised."""
    tasks = asyncio.create_task(first), asyncio.create_task(second)
    try:
        return await tasks[0], await tasks[1]
    finally:
        for task in tasks:
            task.cancel()


def fuse_channels(semantic: Sequence[Ranked] | None, lexical: Sequence[Ranked] | None, k: int) -> list[Fused]:
    """Fuse the rankings of the channels that ran and return the best `k`.

    Raises:
        InvalidInputError: a store's ranking is none.
    """
    for ranking, highest, channel in ((semantic, 1.0, "semantic"), (lexical, sys.float_info.max, "lexical")):
        _check_ranking(ranking, highest=highest, channel=channel)
    rankings = [ranking for ranking in (semantic, lexical) if ranking is not None]
    by_vector = _first_scores(semantic)
    by_words = _first_scores(lexical)
    fused = reciprocal_rank_fusion([[place.id for place in ranking] for ranking in rankings])
    return [Fused(found, score, by_vector.get(found), by_words.get(found)) for found, score in fused[:k]]


def _check_ranking(ranking: Sequence[Ranked] | None, *, highest: float, channel: str) -> None:
    if ranking is not None and not isinstance(ranking, (list, tuple)):
        raise InvalidInputError(
            f"{channel} store", f"returned {type(ranking).__name__}", fix="repair it: a list of Ranked"
        )
    for place in ranking or ():
        if not isinstance(place, Ranked) or not isinstance(place.id, str) or not 0.0 <= place.score <= highest:
            raise InvalidInputError(
                f"{channel} store", f"ranked {place!r}", fix=f"repair it: Ranked, with a score from 0 to {highest}"
            )


def _first_scores(ranking: Sequence[Ranked] | None) -> dict[str, float]:
    scores: dict[str, float] = {}
    for place in ranking or ():
        scores.setdefault(place.id, place.score)
    return scores
