"""Stores that rebuild every object on each read, so that identity where equality is meant cannot pass."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeVar

from pydantic import BaseModel

from latence_retrieval.memory.chunk_store import MemoryChunkStore
from latence_retrieval.memory.entity_store import MemoryEntityStore, MemoryVectorStore
from latence_retrieval.ports.stores import ChunkFilter, Ranked, TenantId
from latence_retrieval.records import Chunk, Entity

__all__ = ["RebuildingChunkStore", "RebuildingEntityStore", "RebuildingVectorStore"]

Record = TypeVar("Record", bound=BaseModel)


class RebuildingEntityStore(MemoryEntityStore):
    """A `MemoryEntityStore` whose answers share no object with it or with each other, ids included."""

    async def entities(self, tenant: TenantId, ids: Sequence[str]) -> list[Entity | None]:
        """Return rebuilt entities."""
        return [_rebuilt(entity) for entity in await super().entities(tenant, ids)]

    async def name_candidates(
        self, tenant: TenantId, keys: Sequence[str], *, limit: int, entity_types: Collection[str] | None = None
    ) -> list[Entity]:
        """Return rebuilt entities."""
        found = await super().name_candidates(tenant, keys, limit=limit, entity_types=entity_types)
        return [type(entity).model_validate_json(entity.model_dump_json()) for entity in found]


class RebuildingVectorStore(MemoryVectorStore):
    """A `MemoryVectorStore` whose answers share no object with it."""

    async def nearest_entities(
        self,
        tenant: TenantId,
        embedding: Sequence[float],
        k: int,
        *,
        entity_types: Collection[str] | None = None,
    ) -> list[Ranked]:
        """Return rebuilt places."""
        return _rebuilt_places(await super().nearest_entities(tenant, embedding, k, entity_types=entity_types))


class RebuildingChunkStore(MemoryChunkStore):
    """A `MemoryChunkStore` whose answers share no object with it or with each other, ids included."""

    async def chunks(self, tenant: TenantId, ids: Sequence[str]) -> list[Chunk | None]:
        """Return rebuilt chunks."""
        return [_rebuilt(chunk) for chunk in await super().chunks(tenant, ids)]

    async def nearest_chunks(
        self, tenant: TenantId, embedding: Sequence[float], k: int, *, where: ChunkFilter | None = None
    ) -> list[Ranked]:
        """Return rebuilt places."""
        return _rebuilt_places(await super().nearest_chunks(tenant, embedding, k, where=where))

    async def match_chunks(
        self, tenant: TenantId, query: str, k: int, *, where: ChunkFilter | None = None
    ) -> list[Ranked]:
        """Return rebuilt places."""
        return _rebuilt_places(await super().match_chunks(tenant, query, k, where=where))


def _rebuilt(record: Record | None) -> Record | None:
    return None if record is None else type(record).model_validate_json(record.model_dump_json())


def _rebuilt_places(places: Sequence[Ranked]) -> list[Ranked]:
    return [Ranked("".join(list(place.id)), float(repr(place.score))) for place in places]
