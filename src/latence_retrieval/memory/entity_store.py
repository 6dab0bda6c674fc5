"""Entities and their vectors in memory: the reference for the entity ports."""

from __future__ import annotations

import threading
from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from functools import partial

from latence_retrieval.lexical.blocking import name_keys
from latence_retrieval.lexical.candidates import best_candidates
from latence_retrieval.memory.vector_rows import VectorRows
from latence_retrieval.ports.stores import Ranked, TenantId, canonical_id
from latence_retrieval.records import Entity

__all__ = ["MemoryEntityStore", "MemoryVectorStore"]


class _Names:
    """One tenant's entities. Numbers ascend and are not used again, so that key lists stay sorted by appending."""

    def __init__(self) -> None:
        self.by_number: dict[int, Entity] = {}
        self.number_of: dict[str, int] = {}
        self.bearers: dict[str, array[int]] = {}
        self.of_type: dict[str | None, set[int]] = {}
        self._next = 0

    def put(self, entity: Entity) -> None:
        self._forget(entity.id)
        number, self._next = self._next, self._next + 1
        self.by_number[number] = entity.model_copy(update={"properties": dict(entity.properties)})
        self.number_of[entity.id] = number
        self.of_type.setdefault(entity.type, set()).add(number)
        for key in name_keys(entity):
            bearers = self.bearers.get(key)
            if bearers is None:
                self.bearers[key] = array("I", (number,))
            else:
                bearers.append(number)

    def _forget(self, identifier: str) -> None:
        number = self.number_of.pop(identifier, None)
        if number is None:
            return
        entity = self.by_number.pop(number)
        self.of_type[entity.type].discard(number)
        for key in name_keys(entity):
            bearers = self.bearers[key]
            del bearers[bisect_left(bearers, number)]
            if not bearers:
                del self.bearers[key]

    def candidates(self, keys: Sequence[str], limit: int, entity_types: Collection[str] | None) -> list[Entity]:
        allowed: Callable[[Sequence[int]], Sequence[int]] | None = None
        if entity_types is not None:
            of_types: set[int] = set()
            for entity_type in entity_types:
                of_types |= self.of_type.get(entity_type, set())
            allowed = partial(_members, of_types)
        lists = [(key, self.bearers[key]) for key in keys if key in self.bearers]
        numbers = best_candidates(lists, limit, total=len(self.by_number), ids=self._ids, allowed=allowed)
        return [self.by_number[number] for number in numbers]

    def _ids(self, numbers: Sequence[int]) -> list[str]:
        return [self.by_number[number].id for number in numbers]


def _members(numbers: Collection[int], asked: Sequence[int]) -> list[int]:
    return [number for number in asked if number in numbers]


class MemoryEntityStore:
    """`EntityReader` and `EntityWriter` in dictionaries; safe for threads."""

    def __init__(self) -> None:
        """Start empty."""
        self._tenants: dict[str, _Names] = {}
        self._lock = threading.Lock()

    async def put_entities(self, tenant: TenantId, entities: Sequence[Entity]) -> None:
        """Store entities; one with a known id replaces it."""
        with self._lock:
            names = self._tenants.setdefault(canonical_id(tenant), _Names())
            for entity in entities:
                names.put(entity)

    async def entities(self, tenant: TenantId, ids: Sequence[str]) -> list[Entity | None]:
        """Return one entity or None per id."""
        with self._lock:
            names = self._tenants.get(canonical_id(tenant), _Names())
            numbers = [names.number_of.get(identifier) for identifier in ids]
            return [None if number is None else names.by_number[number] for number in numbers]

    async def name_candidates(
        self, tenant: TenantId, keys: Sequence[str], *, limit: int, entity_types: Collection[str] | None = None
    ) -> list[Entity]:
        """Return the entities that share the most telling keys."""
        with self._lock:
            names = self._tenants.get(canonical_id(tenant))
            return names.candidates(keys, limit, entity_types) if names else []


class MemoryVectorStore:
    """`VectorReader` and `VectorWriter` by an exact scan; safe for threads. Uses numpy where it is installed."""

    def __init__(self, dimension: int, *, use_numpy: bool | None = None) -> None:
        """Start empty.

        Args:
            dimension: length of every vector.
            use_numpy: False keeps to the standard library; None uses numpy where it is installed.
        """
        self._dimension = dimension
        self._use_numpy = use_numpy
        self._tenants: dict[str, tuple[VectorRows, dict[str, str | None]]] = {}
        self._lock = threading.Lock()

    @property
    def dimension(self) -> int:
        """Length of the stored vectors."""
        return self._dimension

    async def put_vectors(self, tenant: TenantId, rows: Sequence[tuple[str, str | None, Sequence[float]]]) -> None:
        """Store (entity id, entity type, vector); all or, where one has another dimension, none."""
        with self._lock:
            vectors, types = self._tenants.setdefault(
                canonical_id(tenant), (VectorRows(self._dimension, use_numpy=self._use_numpy), {})
            )
            for _, _, vector in rows:
                vectors.check(vector)
            for identifier, entity_type, vector in rows:
                vectors.put(identifier, vector)
                types[identifier] = entity_type

    async def nearest_entities(
        self,
        tenant: TenantId,
        embedding: Sequence[float],
        k: int,
        *,
        entity_types: Collection[str] | None = None,
    ) -> list[Ranked]:
        """Return the `k` nearest entities."""
        with self._lock:
            held = self._tenants.get(canonical_id(tenant))
            if held is None:
                return []
            vectors, types = held
            allowed = None
            if entity_types is not None:
                allowed = [identifier for identifier, held_type in types.items() if held_type in entity_types]
            found = vectors.nearest(embedding, k, allowed=allowed)
            return [Ranked(identifier, (1.0 + cosine) / 2.0) for identifier, cosine in found]
