"""What stores of chunks must do, as tests to inherit.

    class TestMyChunks(ChunkReaderConformance):
        def chunk_store(self, dimension, held):
            return MyStore.filled_with(held)      # {tenant: [(Chunk, vector or None), ...]}

Needs no test framework at import; pytest collects the methods. Stores that take chunks in as well inherit
`ChunkWriterConformance` too and define `empty_store`.
"""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

from latence_retrieval.errors import DimensionMismatchError
from latence_retrieval.lexical.bm25 import DEFAULT_B, DEFAULT_K1
from latence_retrieval.ports.stores import ChunkFilter, ChunkReader, ChunkWriter, TenantId
from latence_retrieval.records import Chunk
from latence_retrieval.text.tokenise import tokenise

__all__ = ["ChunkReaderConformance", "ChunkWriterConformance"]

ChunkRow = tuple[Chunk, Sequence[float] | None]
"""A chunk and its vector, None where it has none."""

TENANT = "acme"
OTHER = "globex"

TEXTS = (
    ("c-engine", "the analytical engine was never built"),
    ("c-ada", "ada wrote the first program for the analytical engine"),
    ("c-loom", "the loom of jacquard wove the pattern"),
    ("c-the", "the the the the"),
    ("c-none", "..."),
)
QUERIES = ("analytical engine", "the", "the engine of ada", "jacquard", "pattern pattern loom", "zuse", "the the")


def _row(identifier: str, text: str, vector: Sequence[float] | None = None, **fields: object) -> ChunkRow:
    return Chunk.model_validate({"id": identifier, "text": text, **fields}), vector


def _bm25(texts: Mapping[str, str], query: str) -> list[tuple[str, float]]:
    """Rank by the formula as `lexical.bm25` writes it down, from every text."""
    bags = {name: Counter(token.form for token in tokenise(text)) for name, text in texts.items()}
    average = sum(bag.total() for bag in bags.values()) / len(bags)
    scores: dict[str, float] = {}
    for term, times in Counter(token.form for token in tokenise(query)).items():
        frequency = sum(term in bag for bag in bags.values())
        for name, bag in bags.items():
            if bag[term]:
                idf = math.log1p((len(bags) - frequency + 0.5) / (frequency + 0.5))
                norm = DEFAULT_K1 * (1.0 - DEFAULT_B + DEFAULT_B * bag.total() / average)
                scores[name] = scores.get(name, 0.0) + times * idf * bag[term] / (bag[term] + norm)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))


class ChunkReaderConformance:
    """Contract of `ChunkReader`; subclass it and define `chunk_store`."""

    def chunk_store(self, dimension: int | None, held: Mapping[TenantId, Sequence[ChunkRow]]) -> ChunkReader:
        """Return a reader over a store that holds these chunks of these tenants, and nothing else."""
        raise NotImplementedError("define chunk_store(dimension, held)")

    def matched(self, store: ChunkReader, query: str, k: int, where: ChunkFilter | None = None) -> list[str]:
        """Return the ids of the first tenant's chunks that match by words."""
        return [place.id for place in asyncio.run(store.match_chunks(TENANT, query, k, where=where))]

    def nearest(
        self, store: ChunkReader, embedding: Sequence[float], k: int, where: ChunkFilter | None = None
    ) -> list[str]:
        """Return the ids of the first tenant's nearest chunks."""
        return [place.id for place in asyncio.run(store.nearest_chunks(TENANT, embedding, k, where=where))]

    def test_chunks_come_back_equal_in_the_order_asked(self) -> None:
        """Every field survives, repeated ids are answered each time, an absent id is None."""
        first, _ = _row("1", "Text.", title="Title", document_id="d", source="s", metadata={"year": 1843})
        second, _ = _row("2", "")
        store = self.chunk_store(None, {TENANT: [(first, None), (second, None)]})
        asked = ["2", "absent", "1", "2"]
        assert asyncio.run(store.chunks(TENANT, asked)) == [second, None, first, second]
        assert asyncio.run(store.chunks(TENANT, [])) == []

    def test_words_rank_by_exact_bm25(self) -> None:
        """Scores equal the formula, however common the words are."""
        store = self.chunk_store(None, {TENANT: [_row(name, text) for name, text in TEXTS]})
        for query in QUERIES:
            found = asyncio.run(store.match_chunks(TENANT, query, 9))
            expected = _bm25(dict(TEXTS), query)
            assert [place.id for place in found] == [name for name, _ in expected], query
            for place, (_, score) in zip(found, expected, strict=True):
                assert math.isclose(place.score, score, rel_tol=1e-9)
                assert place.score > 0.0

    def test_the_title_is_searched_too(self) -> None:
        """As if it stood before the text."""
        store = self.chunk_store(None, {TENANT: [_row("1", "text", title="Babbage"), _row("2", "other")]})
        assert self.matched(store, "babbage", 9) == ["1"]

    def test_k_is_a_limit_at_zero_at_one_and_beyond_the_store(self) -> None:
        """Fewer come back where there are fewer."""
        rows = [_row(name, text, (1.0, float(place))) for place, (name, text) in enumerate(TEXTS)]
        store = self.chunk_store(2, {TENANT: rows})
        assert self.matched(store, "engine", 0) == []
        assert self.matched(store, "engine", 1) == ["c-engine"]
        assert self.matched(store, "engine", 10_000) == ["c-engine", "c-ada"]
        assert self.nearest(store, (1.0, 0.0), 0) == []
        assert self.nearest(store, (1.0, 0.0), 1) == ["c-engine"]
        assert len(self.nearest(store, (1.0, 0.0), 10_000)) == 5

    def test_equal_scores_are_ordered_by_id_also_at_the_cut(self) -> None:
        """In both rankings, whatever the order in which the chunks were stored."""
        store = self.chunk_store(2, {TENANT: [_row(letter, "same words", (0.0, 1.0)) for letter in "dbca"]})
        assert self.matched(store, "words", 9) == self.nearest(store, (0.0, 1.0), 9) == ["a", "b", "c", "d"]
        assert self.matched(store, "words", 2) == self.nearest(store, (0.0, 1.0), 2) == ["a", "b"]

    def test_filters_are_applied_before_k(self) -> None:
        """The best of the allowed ones come back, not the allowed ones of the best; all conditions hold at once."""
        store = self.chunk_store(
            2,
            {
                TENANT: [
                    _row("1", "engine", (1.0, 0.0), document_id="a", source="x", metadata={"year": 1840}),
                    _row("2", "engine room", (1.0, 0.5), document_id="b", source="x", metadata={"year": 1843}),
                    _row("3", "engine room plan", (1.0, 1.0), document_id="b", source="y", metadata={"lang": "en"}),
                ]
            },
        )
        for where, expected in (
            (ChunkFilter(document_ids=["b"]), ["2", "3"]),
            (ChunkFilter(sources={"y"}), ["3"]),
            (ChunkFilter(metadata={"year": [1843, 1900]}), ["2"]),
            (ChunkFilter(metadata={"year": [1840], "lang": ["en"]}), []),
            (ChunkFilter(document_ids=["b"], sources=["x"]), ["2"]),
            (ChunkFilter(document_ids=[]), []),
            (ChunkFilter(), ["1", "2", "3"]),
        ):
            assert self.matched(store, "engine", 9, where) == expected
            assert self.matched(store, "engine", 1, where) == expected[:1]
            assert self.nearest(store, (1.0, 0.0), 9, where) == expected
            assert self.nearest(store, (1.0, 0.0), 1, where) == expected[:1]

    def test_a_chunk_without_a_vector_is_matched_and_not_near(self) -> None:
        """Having a vector is a fact about each chunk."""
        store = self.chunk_store(2, {TENANT: [_row("1", "engine"), _row("2", "engine room", (0.0, 1.0))]})
        assert self.matched(store, "engine", 9) == ["1", "2"]
        assert self.nearest(store, (0.0, 1.0), 9) == ["2"]

    def test_opposite_vectors_score_zero_and_are_not_absent(self) -> None:
        """Scores are half of one plus cosine."""
        store = self.chunk_store(2, {TENANT: [_row("1", "a", (1.0, 0.0)), _row("2", "b", (-2.0, 0.0))]})
        assert list(asyncio.run(store.nearest_chunks(TENANT, (3.0, 0.0), 9))) == [("1", 1.0), ("2", 0.0)]

    def test_a_query_of_any_characters_is_only_words(self) -> None:
        """No character is syntax; a query without words matches nothing."""
        store = self.chunk_store(None, {TENANT: [_row("1", "either or"), _row("2", "caf\u00e9 au lait")]})
        for query in ('"', "!", "/", "either AND (", "title:or^2", "%_", "'; drop", "\u0000", "a" * 100_000):
            assert set(self.matched(store, query, 9)) <= {"1"}, query
        assert self.matched(store, "CAFE\u0301", 9) == ["2"]

    def test_two_tenants_may_hold_the_same_id(self) -> None:
        """Texts, vectors and the statistics of BM25 are each tenant's own."""
        ours, theirs = _row("1", "our engine", (1.0, 0.0)), _row("1", "their engine", (0.0, 1.0))
        alone = self.chunk_store(2, {TENANT: [ours]})
        store = self.chunk_store(2, {TENANT: [ours], OTHER: [theirs, _row("2", "engine", (1.0, 0.0))]})
        assert asyncio.run(store.chunks(TENANT, ["1", "2"])) == [ours[0], None]
        for query in ("engine", "their"):
            assert asyncio.run(store.match_chunks(TENANT, query, 9)) == asyncio.run(
                alone.match_chunks(TENANT, query, 9)
            )
        assert self.nearest(store, (1.0, 0.0), 9) == ["1"]

    def test_an_unknown_tenant_has_nothing(self) -> None:
        """Absence is empty, not an error."""
        store = self.chunk_store(2, {TENANT: [_row("1", "engine", (1.0, 0.0))]})
        assert asyncio.run(store.chunks("nobody", ["1"])) == [None]
        assert asyncio.run(store.match_chunks("nobody", "engine", 9)) == []
        assert asyncio.run(store.nearest_chunks("nobody", (1.0, 0.0), 9)) == []


class ChunkWriterConformance:
    """Contract of `ChunkWriter`; subclass it and define `empty_store`."""

    def empty_store(self, dimension: int | None) -> ChunkReadWriter:
        """Return a new store that reads and writes."""
        raise NotImplementedError("define empty_store(dimension)")

    def test_a_known_id_is_replaced_with_its_words_and_its_vector(self) -> None:
        """An old vector does not outlive its text; the statistics are those of a store that never had it."""
        store, fresh = self.empty_store(2), self.empty_store(2)
        last = [_row("1", "new words here"), _row("2", "old words", (1.0, 0.0))]
        asyncio.run(store.put_chunks(TENANT, [_row("1", "old text", (1.0, 0.0)), last[1]]))
        asyncio.run(store.put_chunks(TENANT, [last[0]]))
        asyncio.run(fresh.put_chunks(TENANT, last))
        for query in ("old", "new", "words"):
            assert asyncio.run(store.match_chunks(TENANT, query, 9)) == asyncio.run(
                fresh.match_chunks(TENANT, query, 9)
            )
        assert [place.id for place in asyncio.run(store.nearest_chunks(TENANT, (1.0, 0.0), 9))] == ["2"]

    def test_a_removed_document_leaves_nothing_behind(self) -> None:
        """Only its own chunks go; removing twice is allowed."""
        store = self.empty_store(2)
        rows = [_row(str(place), "engine", (1.0, 0.0), document_id="ab"[place % 2]) for place in range(4)]
        asyncio.run(store.put_chunks(TENANT, rows))
        for _ in range(2):
            asyncio.run(store.remove_document(TENANT, "a"))
        asyncio.run(store.remove_document("nobody", "b"))
        assert [place.id for place in asyncio.run(store.match_chunks(TENANT, "engine", 9))] == ["1", "3"]
        assert [place.id for place in asyncio.run(store.nearest_chunks(TENANT, (1.0, 0.0), 9))] == ["1", "3"]
        assert asyncio.run(store.chunks(TENANT, ["0", "1"])) == [None, rows[1][0]]

    def test_another_dimension_is_refused_and_nothing_of_the_batch_is_stored(self) -> None:
        """The good row before the bad one included."""
        store = self.empty_store(2)
        try:
            asyncio.run(store.put_chunks(TENANT, [_row("1", "engine", (1.0, 0.0)), _row("2", "engine", (1.0,))]))
        except DimensionMismatchError as error:
            refused = (error.expected, error.actual)
        else:
            raise AssertionError("DimensionMismatchError was not raised")
        assert refused == (2, 1)
        assert asyncio.run(store.match_chunks(TENANT, "engine", 9)) == []

    def test_a_later_change_of_the_given_object_has_no_effect(self) -> None:
        """The store keeps its own copy of what can change."""
        store = self.empty_store(None)
        given, _ = _row("1", "engine", metadata={"year": 1843})
        asyncio.run(store.put_chunks(TENANT, [(given, None)]))
        given.metadata["year"] = 1900
        found = asyncio.run(store.chunks(TENANT, ["1"]))[0]
        assert found is not None
        assert found.metadata == {"year": 1843}


class ChunkReadWriter(ChunkReader, ChunkWriter, Protocol):
    """Both ends of one store."""
