"""Where the hybrid surfaces read: entities, their vectors, and chunks. Batched; no store is assumed to be near.

Every call names a tenant, and nothing of another tenant may answer it: (tenant, id) is the key, and two tenants may
hold the same id. A tenant is a string or a UUID; a UUID stands for its canonical lower-case hyphenated form
(`canonical_id`). A tenant that a store does not know has nothing.

Filters apply before `k`: a filtered search returns the best `k` of what the filter allows. None is no filter; an
empty collection allows nothing. Rankings are in one total order: score descending, then id ascending, so that a
cut through a tie does not depend on the store. `k` is at least 0; fewer come back where there are fewer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol
from uuid import UUID

from latence_retrieval.errors import InvalidInputError
from latence_retrieval.records import Chunk, Entity, Scalar

__all__ = [
    "ChunkFilter",
    "ChunkReader",
    "ChunkWriter",
    "EntityReader",
    "EntityWriter",
    "Ranked",
    "TenantId",
    "VectorReader",
    "VectorWriter",
    "canonical_id",
]

TenantId = str | UUID
"""Names a tenant."""


def canonical_id(value: str | UUID) -> str:
    """Return an id as the stores hold it: a UUID in its canonical lower-case hyphenated form, a string as it is."""
    return str(value)


class Ranked(NamedTuple):
    """One place in a ranking. The scale of `score` is the method's that returned it."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class ChunkFilter:
    """Which chunks may be found: all conditions hold at once.

    Attributes:
        document_ids: the documents to look in; None for any, an empty collection for none.
        sources: the sources to look in, likewise.
        metadata: for each field the values that it may have; a chunk without the field is out. The values 1, 1.0
            and True are one value, as in Python.
    """

    document_ids: Collection[str] | None = None
    sources: Collection[str] | None = None
    metadata: Mapping[str, Collection[Scalar]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a text where a collection belongs: it would allow its substrings.

        Raises:
            InvalidInputError: naming the field.
        """
        fields: dict[str, object] = {"document_ids": self.document_ids, "sources": self.sources}
        if not isinstance(self.metadata, Mapping):
            raise InvalidInputError("metadata", f"is {self.metadata!r}", fix="map each field to its allowed values")
        fields |= {f"metadata[{name!r}]": values for name, values in self.metadata.items()}
        for name, values in fields.items():
            optional = name in ("document_ids", "sources")
            if (values is None and optional) or (
                isinstance(values, Collection) and not isinstance(values, (str, bytes))
            ):
                continue
            raise InvalidInputError(name, f"is {values!r}", fix="give a collection of the values that are allowed")

    def allows(self, chunk: Chunk) -> bool:
        """Whether a chunk meets every condition."""
        if self.document_ids is not None and chunk.document_id not in self.document_ids:
            return False
        if self.sources is not None and chunk.source not in self.sources:
            return False
        missing = object()
        return all(chunk.metadata.get(name, missing) in values for name, values in self.metadata.items())


class EntityReader(Protocol):
    """Entities by id and by blocking key."""

    async def entities(self, tenant: TenantId, ids: Sequence[str]) -> list[Entity | None]:
        """Return one entity or None per id, in the order asked."""
        ...

    async def name_candidates(
        self, tenant: TenantId, keys: Sequence[str], *, limit: int, entity_types: Collection[str] | None = None
    ) -> list[Entity]:
        """Return the entities that share the most telling keys, at most `limit`, in any order.

        An entity bears the keys of `lexical.blocking.name_keys`. A key weighs `lexical.blocking.key_weight`, counted
        among all of the tenant's entities; the sum over shared keys decides who of the allowed is returned where
        there are more than `limit`, then the id ascending. Without a filter, entities below a twentieth of the heaviest
        sum are left out.
        """
        ...


class EntityWriter(Protocol):
    """Takes entities in."""

    async def put_entities(self, tenant: TenantId, entities: Sequence[Entity]) -> None:
        """Store entities; one with a known id replaces it. Later changes of the given objects have no effect."""
        ...


class VectorReader(Protocol):
    """Nearest entities by vector."""

    @property
    def dimension(self) -> int:
        """Length of the stored vectors."""
        ...

    async def nearest_entities(
        self,
        tenant: TenantId,
        embedding: Sequence[float],
        k: int,
        *,
        entity_types: Collection[str] | None = None,
    ) -> list[Ranked]:
        """Return the `k` nearest entities with (1 + cosine) / 2 as score: 1.0 same direction, 0.5 unrelated.

        `embedding` is finite and of the right dimension: the caller has checked. A zero vector is near nothing.
        """
        ...


class VectorWriter(Protocol):
    """Takes entity vectors in."""

    async def put_vectors(self, tenant: TenantId, rows: Sequence[tuple[str, str | None, Sequence[float]]]) -> None:
        """Store (entity id, entity type, vector); a known id is replaced.

        Raises:
            DimensionMismatchError: a vector of another dimension; nothing of the batch is stored.
        """
        ...


class ChunkReader(Protocol):
    """Chunks by id, by vector and by words."""

    @property
    def dimension(self) -> int | None:
        """Length of the stored vectors; None for a store that holds none."""
        ...

    async def chunks(self, tenant: TenantId, ids: Sequence[str]) -> list[Chunk | None]:
        """Return one chunk or None per id, in the order asked."""
        ...

    async def nearest_chunks(
        self, tenant: TenantId, embedding: Sequence[float], k: int, *, where: ChunkFilter | None = None
    ) -> list[Ranked]:
        """Return the `k` nearest chunks that have a vector, with (1 + cosine) / 2 as score."""
        ...

    async def match_chunks(
        self, tenant: TenantId, query: str, k: int, *, where: ChunkFilter | None = None
    ) -> list[Ranked]:
        """Return the `k` best chunks by BM25 over title and text, of those that share a term with `query`.

        Exact over the whole corpus of the tenant, whose statistics count even where `where` leaves chunks out.
        The score is above zero, unbounded, and compares within one query.
        """
        ...


class ChunkWriter(Protocol):
    """Takes chunks in."""

    async def put_chunks(self, tenant: TenantId, rows: Sequence[tuple[Chunk, Sequence[float] | None]]) -> None:
        """Store chunks, each with its vector or None; a known id is replaced, its old vector too.

        Raises:
            DimensionMismatchError: a vector of another dimension; nothing of the batch is stored.
        """
        ...

    async def remove_document(self, tenant: TenantId, document_id: str) -> None:
        """Remove all chunks of a document; allowed where there are none."""
        ...
