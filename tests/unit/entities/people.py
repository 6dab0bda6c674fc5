"""Stores, doubles and people that the tests of `Retriever` share."""

import asyncio

from latence_retrieval.entities import Retriever
from latence_retrieval.memory.entity_store import MemoryEntityStore, MemoryVectorStore
from latence_retrieval.records import Entity
from latence_retrieval.testing.doubles import RebuildingEntityStore, RebuildingVectorStore

TENANT = "acme"


class Axes:
    """Embeds "north" and "east" along the axes, all else between; counts its calls."""

    dimension = 2

    def __init__(self, answer=None):
        self.calls = 0
        self.answer = answer

    async def embed(self, texts):
        self.calls += 1
        if self.answer is not None:
            return self.answer
        return [{"north": (0.0, 1.0), "east": (1.0, 0.0)}.get(text, (1.0, 1.0)) for text in texts]


def entity(identifier, name, *, type=None, aliases=(), **properties):  # noqa: A002 - the field's name
    return Entity(id=identifier, name=name, type=type, aliases=aliases, properties=properties)


def retriever(rows, *, lexical=None, tenant=TENANT, double=False, provider=None, dangling=()):
    """Build one from (entity, vector or None) pairs; `dangling` are vectors without entity."""
    entities = RebuildingEntityStore() if double else MemoryEntityStore()
    vectors = RebuildingVectorStore(2) if double else MemoryVectorStore(2)
    add(entities, vectors, tenant, rows, dangling)
    made = Retriever(embeddings=provider or Axes(), vectors=vectors, entities=entities, lexical=lexical)
    made.stores = entities, vectors
    return made


def add(entities, vectors, tenant, rows, dangling=()):
    asyncio.run(entities.put_entities(tenant, [held for held, _ in rows]))
    asyncio.run(vectors.put_vectors(tenant, [(e.id, e.type, v) for e, v in rows if v is not None]))
    asyncio.run(vectors.put_vectors(tenant, [(identifier, None, vector) for identifier, vector in dangling]))


def retrieve(made, query, tenant=TENANT, **options):
    return asyncio.run(made.retrieve(query, tenant, **options))


def ids(result):
    return [match.entity.id for match in result.matches]


PEOPLE = [
    (entity("ada", "Ada Lovelace", type="person", aliases=("Augusta Ada King",), field="mathematics"), None),
    (entity("charles", "Charles Babbage", type="person"), None),
    (entity("engine", "Analytical Engine", type="machine"), None),
]
