"""What stores of entities, entity vectors and embeddings must do, as tests to inherit.

    class TestMyEntities(EntityReaderConformance):
        def entity_store(self, held):
            return MyStore.filled_with(held)      # {tenant: [Entity, ...]}

Needs no test framework at import; pytest collects the methods. Stores that take records in as well inherit the
`…WriterConformance` too and define `empty_store`.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection, Mapping, Sequence
from typing import Protocol
from uuid import UUID

from latence_retrieval.errors import DimensionMismatchError
from latence_retrieval.lexical.blocking import query_keys
from latence_retrieval.ports.embedding import EmbeddingProvider
from latence_retrieval.ports.stores import (
    EntityReader,
    EntityWriter,
    TenantId,
    VectorReader,
    VectorWriter,
    canonical_id,
)
from latence_retrieval.records import Entity

__all__ = [
    "EmbeddingProviderConformance",
    "EntityReaderConformance",
    "EntityWriterConformance",
    "VectorReaderConformance",
    "VectorWriterConformance",
]

VectorRow = tuple[str, str | None, Sequence[float]]
"""Entity id, entity type, vector."""

TENANT = "acme"
OTHER = "globex"
TENANT_UUID = UUID("6BA7B810-9DAD-11D1-80B4-00C04FD430C8")

ADA = Entity(id="e-ada", name="Ada Lovelace", type="person", aliases=("Augusta Ada King",), properties={"born": 1815})
CHARLES = Entity(id="e-charles", name="Charles Babbage", type="person")
ENGINE = Entity(id="e-engine", name="Analytical Engine", type="machine", description="never built")
BABBAGE_ENGINE = Entity(id="e-babbage-engine", name="Babbage Engine", type="machine")
EVERYTHING = (ADA, CHARLES, ENGINE, BABBAGE_ENGINE)

FOUND_BY = (
    ("Ada Lovelace", "e-ada"),
    ("Lovelace", "e-ada"),
    ("Lovelace, Ada", "e-ada"),
    ("Augusta Ada King", "e-ada"),
    ("who was Charles Babbage?", "e-charles"),
    ("Charles Babage", "e-charles"),
    ("Analytical Engin", "e-engine"),
)


class EntityReaderConformance:
    """Contract of `EntityReader`; subclass it and define `entity_store`."""

    def entity_store(self, held: Mapping[TenantId, Sequence[Entity]]) -> EntityReader:
        """Return a reader over a store that holds these entities of these tenants, and nothing else."""
        raise NotImplementedError("define entity_store(held)")

    def candidates(
        self, store: EntityReader, query: str, *, limit: int = 10, entity_types: Collection[str] | None = None
    ) -> set[str]:
        """Return the ids that a query's keys find for the first tenant."""
        keys = query_keys(query)
        found = asyncio.run(store.name_candidates(TENANT, keys, limit=limit, entity_types=entity_types))
        assert len(found) == len({entity.id for entity in found}), "an entity came twice"
        return {entity.id for entity in found}

    def test_entities_come_back_equal_in_the_order_asked(self) -> None:
        """Every field survives, repeated ids are answered each time, an absent id is None."""
        store = self.entity_store({TENANT: EVERYTHING})
        asked = ["e-engine", "e-absent", "e-ada", "e-engine"]
        assert asyncio.run(store.entities(TENANT, asked)) == [ENGINE, None, ADA, ENGINE]
        assert asyncio.run(store.entities(TENANT, [])) == []

    def test_candidates_come_back_whole(self) -> None:
        """A candidate is the entity itself."""
        store = self.entity_store({TENANT: EVERYTHING})
        assert asyncio.run(store.name_candidates(TENANT, query_keys("Ada Lovelace"), limit=1)) == [ADA]

    def test_every_kind_of_key_finds_its_bearer(self) -> None:
        """Prefix, sound, tokens, ends, aliases and names inside a text."""
        store = self.entity_store({TENANT: EVERYTHING})
        for query, expected in FOUND_BY:
            assert expected in self.candidates(store, query), query

    def test_an_entity_that_shares_no_key_is_no_candidate(self) -> None:
        """Nothing is added to fill the limit."""
        store = self.entity_store({TENANT: EVERYTHING})
        assert self.candidates(store, "Zuse") == set()
        assert asyncio.run(store.name_candidates(TENANT, [], limit=5)) == []

    def test_the_limit_keeps_those_with_the_rarest_keys(self) -> None:
        """Two shared keys outweigh one; a limit beyond the store is no error."""
        store = self.entity_store({TENANT: EVERYTHING})
        assert self.candidates(store, "Charles Babbage", limit=1) == {"e-charles"}
        assert self.candidates(store, "Babbage", limit=1000) == {"e-charles", "e-babbage-engine"}

    def test_a_tie_at_the_limit_goes_to_the_smaller_id(self) -> None:
        """Whatever the order in which the entities were stored."""
        same = [Entity(id=f"e-{letter}", name="Same Name") for letter in "cabd"]
        store = self.entity_store({TENANT: same})
        assert self.candidates(store, "Same Name", limit=2) == {"e-a", "e-b"}

    def test_types_are_applied_before_the_limit(self) -> None:
        """The best of the allowed ones come back, not the allowed ones of the best."""
        store = self.entity_store({TENANT: EVERYTHING})
        assert self.candidates(store, "Babbage", limit=1, entity_types=["machine"]) == {"e-babbage-engine"}
        assert self.candidates(store, "Babbage", entity_types=["machine", "person"]) >= {"e-charles"}
        assert self.candidates(store, "Babbage", entity_types=["planet"]) == set()
        assert self.candidates(store, "Babbage", entity_types=[]) == set()

    def test_two_tenants_may_hold_the_same_id(self) -> None:
        """(tenant, id) is the key, in both methods."""
        ours, theirs = Entity(id="1", name="Our Thing"), Entity(id="1", name="Their Thing")
        store = self.entity_store({TENANT: [ours], OTHER: [theirs]})
        assert asyncio.run(store.entities(TENANT, ["1"])) == [ours]
        assert asyncio.run(store.entities(OTHER, ["1"])) == [theirs]
        assert asyncio.run(store.name_candidates(OTHER, query_keys("Thing"), limit=9)) == [theirs]

    def test_an_unknown_tenant_has_nothing(self) -> None:
        """Absence is empty, not an error."""
        store = self.entity_store({TENANT: EVERYTHING})
        assert asyncio.run(store.entities("nobody", ["e-ada"])) == [None]
        assert asyncio.run(store.name_candidates("nobody", query_keys("Ada"), limit=9)) == []

    def test_a_uuid_names_the_same_tenant_as_its_canonical_string(self) -> None:
        """Upper case in the UUID's own text makes no difference."""
        store = self.entity_store({TENANT_UUID: [ADA]})
        assert asyncio.run(store.entities(canonical_id(TENANT_UUID), ["e-ada"])) == [ADA]
        assert asyncio.run(store.entities(TENANT_UUID, ["e-ada"])) == [ADA]


class EntityWriterConformance:
    """Contract of `EntityWriter`; subclass it and define `empty_store`."""

    def empty_store(self) -> EntityReadWriter:
        """Return a new store that reads and writes."""
        raise NotImplementedError("define empty_store()")

    def test_a_known_id_is_replaced_with_its_keys(self) -> None:
        """The old name is no longer found, the new one is."""
        store = self.empty_store()
        renamed = Entity(id="e-ada", name="Joan Hopper", type="person")
        asyncio.run(store.put_entities(TENANT, [ADA, CHARLES]))
        asyncio.run(store.put_entities(TENANT, [renamed]))
        assert asyncio.run(store.entities(TENANT, ["e-ada"])) == [renamed]
        assert asyncio.run(store.name_candidates(TENANT, query_keys("Lovelace"), limit=9)) == []
        assert asyncio.run(store.name_candidates(TENANT, query_keys("Hopper"), limit=9)) == [renamed]

    def test_a_later_change_of_the_given_object_has_no_effect(self) -> None:
        """The store keeps its own copy of what can change."""
        store = self.empty_store()
        given = Entity(id="1", name="Thing", properties={"colour": "red"})
        asyncio.run(store.put_entities(TENANT, [given]))
        given.properties["colour"] = "blue"
        found = asyncio.run(store.entities(TENANT, ["1"]))[0]
        assert found is not None
        assert found.properties == {"colour": "red"}


class EntityReadWriter(EntityReader, EntityWriter, Protocol):
    """Both ends of one store."""


class VectorReaderConformance:
    """Contract of `VectorReader`; subclass it and define `vector_store`."""

    def vector_store(self, dimension: int, held: Mapping[TenantId, Sequence[VectorRow]]) -> VectorReader:
        """Return a reader over a store that holds these vectors of these tenants, and nothing else."""
        raise NotImplementedError("define vector_store(dimension, held)")

    def nearest(
        self, store: VectorReader, embedding: Sequence[float], k: int, types: Collection[str] | None = None
    ) -> list[str]:
        """Return the ids of the first tenant's nearest entities."""
        return [place.id for place in asyncio.run(store.nearest_entities(TENANT, embedding, k, entity_types=types))]

    rows: Sequence[VectorRow] = (
        ("north", "x", (0.0, 2.0)),
        ("east", "y", (3.0, 0.0)),
        ("south", "x", (0.0, -1.0)),
        ("north-east", "y", (1.0, 1.0)),
    )

    def test_the_dimension_is_known_without_a_call(self) -> None:
        """It is a property."""
        assert self.vector_store(2, {TENANT: self.rows}).dimension == 2

    def test_scores_are_half_of_one_plus_cosine_best_first(self) -> None:
        """Length means nothing, opposite is 0.0 and not absent."""
        store = self.vector_store(2, {TENANT: self.rows})
        found = asyncio.run(store.nearest_entities(TENANT, (0.0, 0.5), 9))
        assert [place.id for place in found] == ["north", "north-east", "east", "south"]
        expected = (1.0, (1 + math.sqrt(0.5)) / 2, 0.5, 0.0)
        for place, score in zip(found, expected, strict=True):
            assert abs(place.score - score) < 1e-6

    def test_k_is_a_limit_at_zero_at_one_and_beyond_the_store(self) -> None:
        """Fewer come back where there are fewer."""
        store = self.vector_store(2, {TENANT: self.rows})
        assert self.nearest(store, (0.0, 1.0), 0) == []
        assert self.nearest(store, (0.0, 1.0), 1) == ["north"]
        assert len(self.nearest(store, (0.0, 1.0), 10_000)) == 4

    def test_equal_scores_are_ordered_by_id_also_at_the_cut(self) -> None:
        """Whatever the order in which the vectors were stored."""
        rows = [(letter, None, (1.0, 0.0)) for letter in "dbca"]
        store = self.vector_store(2, {TENANT: rows})
        assert self.nearest(store, (2.0, 0.0), 9) == ["a", "b", "c", "d"]
        assert self.nearest(store, (2.0, 0.0), 2) == ["a", "b"]

    def test_types_are_applied_before_k(self) -> None:
        """The best of the allowed ones come back, not the allowed ones of the best."""
        store = self.vector_store(2, {TENANT: self.rows})
        assert self.nearest(store, (0.0, 1.0), 1, ["y"]) == ["north-east"]
        assert self.nearest(store, (0.0, 1.0), 9, ["z"]) == []
        assert self.nearest(store, (0.0, 1.0), 9, []) == []

    def test_a_zero_vector_is_near_nothing(self) -> None:
        """No score is made up for it."""
        assert self.nearest(self.vector_store(2, {TENANT: self.rows}), (0.0, 0.0), 9) == []

    def test_two_tenants_may_hold_the_same_id(self) -> None:
        """Each sees its own vector."""
        held: Mapping[TenantId, Sequence[VectorRow]] = {
            TENANT: [("1", None, (1.0, 0.0))],
            OTHER: [("1", None, (-1.0, 0.0)), ("2", None, (1.0, 0.0))],
        }
        store = self.vector_store(2, held)
        assert [(p.id, p.score) for p in asyncio.run(store.nearest_entities(TENANT, (1.0, 0.0), 9))] == [("1", 1.0)]
        assert asyncio.run(store.nearest_entities("nobody", (1.0, 0.0), 9)) == []


class VectorWriterConformance:
    """Contract of `VectorWriter`; subclass it and define `empty_vector_store`."""

    def empty_vector_store(self, dimension: int) -> VectorReadWriter:
        """Return a new store that reads and writes."""
        raise NotImplementedError("define empty_vector_store(dimension)")

    def test_a_known_id_is_replaced(self) -> None:
        """Vector and type."""
        store = self.empty_vector_store(2)
        asyncio.run(store.put_vectors(TENANT, [("1", "x", (1.0, 0.0)), ("2", "x", (0.0, 1.0))]))
        asyncio.run(store.put_vectors(TENANT, [("1", "y", (-1.0, 0.0))]))
        assert [p.id for p in asyncio.run(store.nearest_entities(TENANT, (1.0, 0.0), 9))] == ["2", "1"]
        assert [p.id for p in asyncio.run(store.nearest_entities(TENANT, (1.0, 0.0), 9, entity_types=["y"]))] == ["1"]

    def test_another_dimension_is_refused_and_nothing_of_the_batch_is_stored(self) -> None:
        """The good row before the bad one included."""
        store = self.empty_vector_store(2)
        try:
            asyncio.run(store.put_vectors(TENANT, [("1", None, (1.0, 0.0)), ("2", None, (1.0,))]))
        except DimensionMismatchError as error:
            refused = (error.expected, error.actual)
        else:
            raise AssertionError("DimensionMismatchError was not raised")
        assert refused == (2, 1)
        assert asyncio.run(store.nearest_entities(TENANT, (1.0, 0.0), 9)) == []


class VectorReadWriter(VectorReader, VectorWriter, Protocol):
    """Both ends of one store."""


class EmbeddingProviderConformance:
    """Contract of `EmbeddingProvider`; subclass it and define `provider`."""

    def provider(self) -> EmbeddingProvider:
        """Return the provider under test."""
        raise NotImplementedError("define provider()")

    def test_one_finite_vector_per_text_in_order(self) -> None:
        """Also for texts that repeat, and for none."""
        provider = self.provider()
        vectors = asyncio.run(provider.embed(["one", "two", "one"]))
        assert [len(vector) for vector in vectors] == [provider.dimension] * 3
        assert all(math.isfinite(value) for vector in vectors for value in vector)
        assert list(vectors[0]) == list(vectors[2]) != list(vectors[1])
        assert list(asyncio.run(provider.embed([]))) == []
