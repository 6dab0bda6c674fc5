"""The ports of the hybrid surfaces, against the in-memory reference, with numpy and without, and its rebuilding double."""

import asyncio

from latence_retrieval.memory.chunk_store import MemoryChunkStore
from latence_retrieval.memory.entity_store import MemoryEntityStore, MemoryVectorStore
from latence_retrieval.testing.chunk_stores import ChunkReaderConformance, ChunkWriterConformance
from latence_retrieval.testing.doubles import RebuildingChunkStore, RebuildingEntityStore, RebuildingVectorStore
from latence_retrieval.testing.embeddings import HashingEmbeddingProvider
from latence_retrieval.testing.entity_stores import (
    EmbeddingProviderConformance,
    EntityReaderConformance,
    EntityWriterConformance,
    VectorReaderConformance,
    VectorWriterConformance,
)


class TestMemoryEntityStore(EntityReaderConformance, EntityWriterConformance):
    make = MemoryEntityStore

    def empty_store(self):
        return self.make()

    def entity_store(self, held):
        store = self.make()
        for tenant, entities in held.items():
            asyncio.run(store.put_entities(tenant, entities))
        return store


class TestRebuildingEntityStore(TestMemoryEntityStore):
    make = RebuildingEntityStore


class TestMemoryVectorStore(VectorReaderConformance, VectorWriterConformance):
    make = MemoryVectorStore
    use_numpy = True

    def empty_vector_store(self, dimension):
        return self.make(dimension, use_numpy=self.use_numpy)

    def vector_store(self, dimension, held):
        store = self.empty_vector_store(dimension)
        for tenant, rows in held.items():
            asyncio.run(store.put_vectors(tenant, rows))
        return store


class TestMemoryVectorStoreWithoutNumpy(TestMemoryVectorStore):
    use_numpy = False


class TestRebuildingVectorStore(TestMemoryVectorStore):
    make = RebuildingVectorStore


class TestMemoryChunkStore(ChunkReaderConformance, ChunkWriterConformance):
    make = MemoryChunkStore
    use_numpy = True

    def empty_store(self, dimension):
        return self.make(dimension, use_numpy=self.use_numpy)

    def chunk_store(self, dimension, held):
        store = self.empty_store(dimension)
        for tenant, rows in held.items():
            asyncio.run(store.put_chunks(tenant, rows))
        return store


class TestMemoryChunkStoreWithoutNumpy(TestMemoryChunkStore):
    use_numpy = False


class TestRebuildingChunkStore(TestMemoryChunkStore):
    make = RebuildingChunkStore


class TestHashingEmbeddingProvider(EmbeddingProviderConformance):
    def provider(self):
        return HashingEmbeddingProvider(16)
