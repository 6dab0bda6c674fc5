"""The reading ports of the hybrid surfaces, against published snapshots in SQLite and, where installed, LMDB."""

import pytest

from latence_retrieval.build import build_sidecar
from latence_retrieval.errors import InvalidInputError, PluginError, SidecarMismatchError
from latence_retrieval.ports.stores import canonical_id
from latence_retrieval.records import Chunk, Entity
from latence_retrieval.sidecar.backends import backend_named
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.sidecar_stores import SidecarChunkStore, SidecarEntityStore, SidecarVectorStore
from latence_retrieval.testing.chunk_stores import ChunkReaderConformance
from latence_retrieval.testing.entity_stores import EntityReaderConformance, VectorReaderConformance

ANY = [Chunk(id="any", text="...")]


class Published:
    backend = "sqlite"

    @pytest.fixture(autouse=True)
    def _snapshots(self, tmp_path):
        try:
            backend_named(self.backend)
        except PluginError as absent:
            pytest.skip(str(absent))
        self.directory = tmp_path
        self.open = []
        yield
        for sidecar in self.open:
            sidecar.close()

    def publish(self, tenant, **records):
        path = self.directory / f"snapshot-{len(self.open)}"
        build_sidecar(path, tenant=canonical_id(tenant), backend=self.backend, link=False, **records)
        sidecar = Sidecar.open(path)
        self.open.append(sidecar)
        return sidecar


class TestSidecarEntityStore(Published, EntityReaderConformance):
    def entity_store(self, held):
        return SidecarEntityStore(
            {tenant: self.publish(tenant, chunks=ANY, entities=rows) for tenant, rows in held.items()}
        )


class TestSidecarVectorStore(Published, VectorReaderConformance):
    def vector_store(self, dimension, held):
        return SidecarVectorStore(
            {
                tenant: self.publish(
                    tenant,
                    chunks=ANY,
                    entities=[Entity(id=name, name=name, type=kind) for name, kind, _ in rows],
                    entity_vectors=[vector for _, _, vector in rows],
                )
                for tenant, rows in held.items()
            }
        )


class TestSidecarChunkStore(Published, ChunkReaderConformance):
    def chunk_store(self, dimension, held):
        sidecars = {}
        for tenant, rows in held.items():
            vectors = [vector or [0.0] * (dimension or 0) for _, vector in rows]
            given = vectors if dimension else None
            sidecars[tenant] = self.publish(tenant, chunks=[chunk for chunk, _ in rows], chunk_vectors=given)
        return SidecarChunkStore(sidecars)


class TestLmdbEntityStore(TestSidecarEntityStore):
    backend = "lmdb"


class TestLmdbVectorStore(TestSidecarVectorStore):
    backend = "lmdb"


class TestLmdbChunkStore(TestSidecarChunkStore):
    backend = "lmdb"


class TestWhatIsRefused(Published):
    @pytest.mark.parametrize("store", [SidecarEntityStore, SidecarChunkStore, SidecarVectorStore])
    def test_a_snapshot_of_another_tenant_is_refused(self, store):
        sidecar = self.publish("acme", chunks=ANY)
        with pytest.raises(SidecarMismatchError, match="'acme', given for 'globex'"):
            store({"globex": sidecar})

    def test_a_snapshot_without_entity_vectors_is_refused_by_the_vector_store(self):
        with pytest.raises(InvalidInputError, match="lexical_only"):
            SidecarVectorStore({"acme": self.publish("acme", chunks=ANY)})
