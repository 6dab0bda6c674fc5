import asyncio

import pytest

from latence_retrieval.errors import DimensionMismatchError, InvalidInputError
from latence_retrieval.indexing import (
    SourceDocument,
    chunk_text,
    entity_text,
    index_chunks,
    index_documents,
    index_entities,
    split_sentences,
)
from latence_retrieval.memory.chunk_store import MemoryChunkStore
from latence_retrieval.memory.entity_store import MemoryEntityStore, MemoryVectorStore
from latence_retrieval.records import Chunk, Entity
from latence_retrieval.testing.embeddings import HashingEmbeddingProvider

TENANT = "acme"


def words_as_pieces(text):
    return text.split(" ")


def index(documents, store, **options):
    return asyncio.run(index_documents(documents, store=store, tenant=TENANT, **options))


def matched(store, query):
    return [place.id for place in asyncio.run(store.match_chunks(TENANT, query, 99))]


def test_a_document_becomes_chunks_that_carry_its_fields():
    store = MemoryChunkStore()
    document = SourceDocument(id="d", text="one two", title="T", source="s", metadata={"year": 1})

    assert index([document], store, split=words_as_pieces) == 2
    assert asyncio.run(store.chunks(TENANT, ["d#0", "d#1"])) == [
        Chunk(id=f"d#{place}", text=text, title="T", document_id="d", source="s", metadata={"year": 1})
        for place, text in enumerate(["one", "two"])
    ]


def test_indexing_again_replaces_the_old_chunks_and_leaves_other_documents():
    store = MemoryChunkStore(8)
    provider = HashingEmbeddingProvider(8)
    index([SourceDocument(id="d", text="a b c"), SourceDocument(id="e", text="c")], store, split=words_as_pieces)
    index([SourceDocument(id="d", text="c")], store, split=words_as_pieces, embeddings=provider)
    assert matched(store, "a b c") == ["d#0", "e#0"]


def test_without_a_provider_chunks_have_no_vector_and_with_one_they_do():
    store = MemoryChunkStore(8)
    provider = HashingEmbeddingProvider(8)
    (vector,) = asyncio.run(provider.embed(["one"]))
    index([SourceDocument(id="bare", text="one")], store)
    assert asyncio.run(store.nearest_chunks(TENANT, vector, 9)) == []
    index([SourceDocument(id="full", text="one", title="T")], store, embeddings=provider)
    assert [place.id for place in asyncio.run(store.nearest_chunks(TENANT, vector, 9))] == ["full#0"]
    assert provider.calls[-1] == ["T\none"]


def test_texts_are_embedded_in_batches_and_progress_is_told():
    provider = HashingEmbeddingProvider(8)
    told = []
    chunks = [Chunk(id=str(place), text="one") for place in range(5)]
    done = asyncio.run(
        index_chunks(
            chunks,
            store=MemoryChunkStore(8),
            tenant=TENANT,
            embeddings=provider,
            batch_size=2,
            progress=lambda stored, total: told.append((stored, total)),
        )
    )
    assert done == 5
    assert [len(batch) for batch in provider.calls] == [2, 2, 1]
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_a_stream_of_documents_has_no_known_total():
    told = []
    documents = (SourceDocument(id=str(place), text="x") for place in range(2))
    index(documents, MemoryChunkStore(), progress=lambda done, total: told.append((done, total)))
    assert told == [(1, None), (2, None)]


@pytest.mark.parametrize("text", ["", " \n ", "..."])
def test_a_document_without_words_is_no_trouble(text):
    assert index([SourceDocument(id="d", text=text)], MemoryChunkStore()) <= 1


def test_entities_get_names_and_vectors():
    entities, vectors, provider = MemoryEntityStore(), MemoryVectorStore(8), HashingEmbeddingProvider(8)
    ada = Entity(id="1", name="Ada", type="person", description="mathematician")
    told = []

    done = asyncio.run(
        index_entities(
            [ada, Entity(id="2", name="Engine")],
            store=entities,
            tenant=TENANT,
            embeddings=provider,
            vectors=vectors,
            progress=lambda stored, total: told.append((stored, total)),
        )
    )

    assert (done, told) == (2, [(2, 2)])
    assert provider.calls == [["Ada: mathematician", "Engine"]]
    assert asyncio.run(entities.entities(TENANT, ["1"])) == [ada]
    (vector,) = asyncio.run(provider.embed([entity_text(ada)]))
    assert asyncio.run(vectors.nearest_entities(TENANT, vector, 1, entity_types=["person"]))[0].id == "1"


def test_entities_can_be_indexed_by_name_alone_or_by_a_text_of_ones_own():
    entities = MemoryEntityStore()
    assert asyncio.run(index_entities([Entity(id="1", name="Ada")], store=entities, tenant=TENANT)) == 1
    provider = HashingEmbeddingProvider(8)
    asyncio.run(
        index_entities(
            [Entity(id="1", name="Ada")],
            store=entities,
            tenant=TENANT,
            embeddings=provider,
            vectors=MemoryVectorStore(8),
            text_of=lambda entity: entity.id,
        )
    )
    assert provider.calls == [["1"]]


def test_a_provider_without_a_place_for_vectors_is_refused():
    with pytest.raises(InvalidInputError, match="both or neither"):
        asyncio.run(
            index_entities([], store=MemoryEntityStore(), tenant=TENANT, embeddings=HashingEmbeddingProvider(8))
        )


def test_a_batch_size_below_one_is_refused():
    with pytest.raises(InvalidInputError, match="batch_size"):
        index([SourceDocument(id="d", text="x")], MemoryChunkStore(), batch_size=0)


class Broken(HashingEmbeddingProvider):
    def __init__(self, answer):
        super().__init__(2)
        self.answer = answer

    async def embed(self, texts):
        return self.answer


@pytest.mark.parametrize(
    ("answer", "error"),
    [([], InvalidInputError), ([[1.0, 2.0, 3.0]], DimensionMismatchError), ([[1.0, float("nan")]], InvalidInputError)],
)
def test_a_provider_that_answers_wrongly_is_named_and_nothing_is_stored(answer, error):
    store = MemoryChunkStore(2)
    with pytest.raises(error, match="embeddings"):
        index([SourceDocument(id="d", text="one")], store, embeddings=Broken(answer))
    assert matched(store, "one") == []


def test_the_title_belongs_to_the_text_of_a_chunk():
    assert chunk_text(Chunk(id="1", text="text", title="Title")) == "Title\ntext"
    assert chunk_text(Chunk(id="1", text="text")) == "text"


# ---- splitting ---------------------------------------------------------------------------------------------


def test_whole_sentences_fill_a_piece_up_to_the_limit():
    text = "One is here. Two is here. Three is here."
    assert split_sentences(text, max_characters=26) == ["One is here. Two is here.", "Three is here."]
    assert split_sentences(text) == [text]


def test_a_sentence_longer_than_the_limit_is_cut_by_force():
    pieces = split_sentences("x" * 25 + " y", max_characters=10)
    assert "".join(pieces) == "x" * 25 + " y"
    assert max(map(len, pieces)) <= 10


@pytest.mark.parametrize("text", ["", "  ", "\n\n"])
def test_a_blank_text_has_no_pieces(text):
    assert split_sentences(text) == []


def test_a_limit_below_one_is_refused():
    with pytest.raises(InvalidInputError, match="max_characters"):
        split_sentences("text", max_characters=0)
