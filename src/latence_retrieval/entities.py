"""`Retriever`: a query string becomes ranked entities, by the meaning of their vectors and by their names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Self

from latence_retrieval.blocking_calls import run_blocking
from latence_retrieval.errors import InvalidInputError
from latence_retrieval.hybrid import (
    Call,
    Fused,
    both,
    check_dimensions,
    checked_call,
    checked_records,
    embed_query,
    fuse_channels,
)
from latence_retrieval.lexical.blocking import ALL_KINDS, CLASSIC_KINDS, KeyKind, query_keys
from latence_retrieval.lexical.names import NameMatch, NameScorer
from latence_retrieval.ports.embedding import EmbeddingProvider
from latence_retrieval.ports.stores import EntityReader, Ranked, TenantId, VectorReader
from latence_retrieval.records import Entity
from latence_retrieval.retrieval_results import RetrievalMode, RetrievalResult, ScoredEntity

__all__ = ["CLASSIC_LEXICAL", "LexicalSettings", "Retriever"]


@dataclass(frozen=True, slots=True)
class LexicalSettings:
    """How the lexical channel looks for names.

    Attributes:
        aliases: whether aliases are found.
        keys: the kinds of blocking keys that a query looks up.
        max_candidates: entities compared with a query, at least `k`. 64: with 32, one recall figure of adr/0013
            fell by more than half a point; with 128 none rose by more.
        min_similarity: names less alike than this are not ranked. 0.5 lets a name inside a question through and
            keeps out names that share but a common word with it (adr/0013).
    """

    aliases: bool = True
    keys: frozenset[KeyKind] = ALL_KINDS
    max_candidates: int = 64
    min_similarity: float = 0.5


CLASSIC_LEXICAL = LexicalSettings(aliases=False, keys=CLASSIC_KINDS, max_candidates=1_000_000, min_similarity=0.0)
"""Prefix and Soundex keys of names alone, every candidate ranked: what the other settings are measured against."""


class Retriever:
    """Finds the entities that a string means.

    Two channels: a semantic one embeds the query and searches the vectors; a lexical one looks candidates up by
    blocking keys and scores them by string similarity over name, aliases and string properties. The channels are
    fused by reciprocal rank, since their scores have no common unit.

    **Lexical recall is bounded by blocking**: a query that shares no key with an entity cannot find it by name,
    however alike the strings are. `lexical.blocking` lists the keys and what they still miss. Of entities that
    share keys, the `max_candidates` with the rarest are compared; a surname with more bearers than that is found,
    but not every bearer. Entities are found by their names and properties, not by the texts that mention them.

    The stores may lag behind each other: an id that the vector store ranks and the entity store lacks is left out
    of the result and listed as `dangling`; nothing moves up in its place. Safe for concurrent calls where the
    ports are.
    """

    def __init__(
        self,
        *,
        embeddings: EmbeddingProvider,
        vectors: VectorReader,
        entities: EntityReader,
        lexical: LexicalSettings | None = None,
    ) -> None:
        """Put the ports together; calls none of them.

        Args:
            embeddings: embeds queries with the model that made the stored vectors.
            vectors: entity vectors.
            entities: entities by id and by blocking key.
            lexical: settings of the lexical channel.

        Raises:
            DimensionMismatchError: provider and vectors have different dimensions.
        """
        check_dimensions(embeddings, vectors.dimension, store="vectors")
        self._semantic: tuple[EmbeddingProvider, VectorReader] | None = (embeddings, vectors)
        self._entities = entities
        self._lexical = lexical or LexicalSettings()

    @classmethod
    def lexical_only(cls, *, entities: EntityReader, lexical: LexicalSettings | None = None) -> Self:
        """Return a retriever without embeddings: no endpoint that is absent, paid or broken can take it down.

        Its default mode is lexical; asking it for another raises `InvalidInputError`.
        """
        retriever = cls.__new__(cls)
        retriever._semantic = None  # noqa: SLF001 - of this very class
        retriever._entities = entities  # noqa: SLF001
        retriever._lexical = lexical or LexicalSettings()  # noqa: SLF001
        return retriever

    async def retrieve(
        self,
        query: str,
        tenant: TenantId,
        *,
        k: int = 10,
        entity_types: Collection[str] | None = None,
        mode: RetrievalMode | str | None = None,
        embedding: Sequence[float] | None = None,
    ) -> RetrievalResult:
        """Return the best `k` entities of a tenant.

        Args:
            query: a name, or a text with names in it.
            tenant: whose entities.
            k: how many at most; 0 gives none.
            entity_types: the types that may be found, in either channel and before `k`; None for all, [] for none.
            mode: the channels to run; None for both, or for the lexical one where there is no provider. `LEXICAL`
                makes no embedding call.
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
            dimension=None if self._semantic is None else self._semantic[1].dimension,
            has_embeddings=self._semantic is not None,
        )
        types = _checked_types(entity_types)
        if k == 0 or (types is not None and not types):
            return RetrievalResult(query=call.query, mode=call.mode)
        if call.mode is RetrievalMode.LEXICAL:
            semantic = None
            names = await self._names(call, types)
        elif call.mode is RetrievalMode.SEMANTIC:
            semantic = await self._vectors(call, types)
            names = None
        else:
            semantic, names = await both(self._vectors(call, types), self._names(call, types))
        return await self._result(call, semantic, names)

    def retrieve_blocking(
        self,
        query: str,
        tenant: TenantId,
        *,
        k: int = 10,
        entity_types: Collection[str] | None = None,
        mode: RetrievalMode | str | None = None,
        embedding: Sequence[float] | None = None,
    ) -> RetrievalResult:
        """Do what `retrieve` does, from synchronous code, inside a running event loop or outside.

        The ports run on one loop in a thread of the library's own (`blocking_calls`).
        """
        return run_blocking(
            self.retrieve(query, tenant, k=k, entity_types=entity_types, mode=mode, embedding=embedding)
        )

    async def _vectors(self, call: Call, types: Collection[str] | None) -> list[Ranked]:
        if self._semantic is None:
            return []
        provider, vectors = self._semantic
        vector = await embed_query(provider, call, dimension=vectors.dimension)
        return await vectors.nearest_entities(call.tenant, vector, call.depth, entity_types=types)

    async def _names(self, call: Call, types: Collection[str] | None) -> list[tuple[Entity, NameMatch]]:
        """Return entities with their matches, best first, then by id."""
        settings = self._lexical
        keys = query_keys(call.text, kinds=settings.keys)
        if not keys:
            return []
        candidates = await self._entities.name_candidates(
            call.tenant, keys, limit=max(call.depth, settings.max_candidates), entity_types=types
        )
        if not isinstance(candidates, (list, tuple)):
            told = f"returned {type(candidates).__name__}"
            raise InvalidInputError("entities.name_candidates()", told, fix="repair the store: a list of entities")
        scorer = NameScorer(call.text, aliases=settings.aliases, kinds=settings.keys)
        found = [
            (entity, match)
            for entity in candidates
            if (match := scorer.match(entity)) is not None and match.score >= settings.min_similarity
        ]
        found.sort(key=lambda pair: (-pair[1].score, pair[0].id))
        return found[: call.depth]

    async def _result(
        self, call: Call, semantic: list[Ranked] | None, names: list[tuple[Entity, NameMatch]] | None
    ) -> RetrievalResult:
        lexical = None if names is None else [Ranked(entity.id, match.score) for entity, match in names]
        held = {entity.id: entity for entity, _ in names or ()}
        matches = {entity.id: match for entity, match in names or ()}
        fused = fuse_channels(semantic, lexical, call.k)
        missing = [place.id for place in fused if place.id not in held]
        if missing:
            answered = checked_records(
                await self._entities.entities(call.tenant, missing), missing, port="entities.entities()"
            )
            held.update({entity.id: entity for entity in answered if entity is not None})
        return RetrievalResult(
            query=call.query,
            mode=call.mode,
            truncated=call.is_cut,
            semantic_count=None if semantic is None else len(semantic),
            lexical_count=None if lexical is None else len(lexical),
            dangling=tuple(place.id for place in fused if place.id not in held),
            matches=tuple(_scored(held[place.id], place, matches.get(place.id)) for place in fused if place.id in held),
        )


def _checked_types(types: Collection[str] | None) -> Collection[str] | None:
    """Return the types that may be found.

    Raises:
        InvalidInputError: a single text, or no collection of texts.
    """
    if types is None:
        return None
    if isinstance(types, str):
        raise InvalidInputError("entity_types", "is a string", fix=f"give a list: [{types!r}]")
    if not isinstance(types, Collection) or not all(isinstance(one, str) for one in types):
        raise InvalidInputError("entity_types", f"is {types!r}", fix="give a list of texts, or None for all types")
    return types


def _scored(entity: Entity, place: Fused, match: NameMatch | None) -> ScoredEntity:
    return ScoredEntity(
        # The one mutable field is copied, so that nobody can change a store through a result.
        entity=entity.model_copy(update={"properties": dict(entity.properties)}),
        score=place.score,
        semantic=place.semantic,
        lexical=place.lexical,
        matched=match.matched if match else None,
        matched_field=match.field if match else None,
    )
