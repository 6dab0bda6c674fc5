import asyncio

import pytest

from latence_retrieval.chunks import ChunkRetriever
from latence_retrieval.errors import BlankQueryError, DimensionMismatchError, InvalidInputError
from latence_retrieval.memory.chunk_store import MemoryChunkStore
from latence_retrieval.ports.stores import ChunkFilter
from latence_retrieval.records import Chunk
from latence_retrieval.retrieval_results import RetrievalMode
from latence_retrieval.testing.doubles import RebuildingChunkStore

TENANT = "acme"


class Axes:
    """Embeds "north" and "east" along the axes, all else between; counts its calls."""

    dimension = 2

    def __init__(self):
        self.calls = 0

    async def embed(self, texts):
        self.calls += 1
        return [{"north": (0.0, 1.0), "east": (1.0, 0.0)}.get(text, (1.0, 1.0)) for text in texts]


def chunk(identifier, text, **fields):
    return Chunk(id=identifier, text=text, **fields)


def filled(rows, *, tenant=TENANT, store=None):
    store = store or MemoryChunkStore(2)
    asyncio.run(store.put_chunks(tenant, rows))
    return store


def retriever(rows, *, provider=None, double=False):
    store = RebuildingChunkStore(2) if double else MemoryChunkStore(2)
    return ChunkRetriever(embeddings=provider or Axes(), chunks=filled(rows, store=store))


def retrieve(made, query, tenant=TENANT, **options):
    return asyncio.run(made.retrieve_chunks(query, tenant, **options))


def ids(result):
    return [match.chunk.id for match in result.matches]


ROWS = [
    (chunk("1", "north wind"), (0.0, 1.0)),
    (chunk("2", "north north by north"), (1.0, 0.0)),
    (chunk("3", "south"), (0.1, 1.0)),
]


@pytest.mark.parametrize("double", [False, True])
def test_ranks_of_both_channels_are_summed(double):
    result = retrieve(retriever(ROWS, double=double), "north")
    scores = {match.chunk.id: match.score for match in result.matches}
    # by vector 1, 3, 2; by words 2, 1
    assert scores == {"1": 1 / 61 + 1 / 62, "2": 1 / 61 + 1 / 63, "3": 1 / 62}
    assert ids(result) == ["1", "2", "3"]


def test_crossed_ranks_tie_and_the_smaller_id_comes_first():
    rows = [(chunk("b", "north north"), (0.5, 1.0)), (chunk("a", "north wind"), (0.0, 1.0))]
    result = retrieve(retriever(rows), "north")
    assert ids(result) == ["a", "b"]
    assert result.matches[0].score == result.matches[1].score


def test_none_says_not_ranked_and_zero_says_ranked_as_unlike():
    rows = [(chunk("1", "x"), (0.0, -1.0)), (chunk("2", "north"), None)]
    by_id = {match.chunk.id: match for match in retrieve(retriever(rows), "north").matches}
    assert (by_id["1"].semantic, by_id["1"].lexical) == (0.0, None)
    assert by_id["2"].semantic is None
    assert by_id["2"].lexical > 0.0


@pytest.mark.parametrize("mode", ["semantic", "lexical", "hybrid"])
def test_a_mode_runs_its_channels(mode):
    result = retrieve(retriever(ROWS), "north", mode=mode)
    assert (result.semantic_count, result.lexical_count) == {
        "semantic": (3, None),
        "lexical": (None, 2),
        "hybrid": (3, 2),
    }[mode]
    assert all(match.semantic is None for match in result.matches) == (mode == "lexical")
    assert all(match.lexical is None for match in result.matches) == (mode == "semantic")


def test_the_lexical_mode_and_an_embedding_of_ones_own_make_no_embedding_call():
    provider = Axes()
    made = retriever(ROWS, provider=provider)
    retrieve(made, "north", mode=RetrievalMode.LEXICAL)
    assert ids(retrieve(made, "north", mode="semantic", embedding=(1.0, 0.0)))[0] == "2"
    assert provider.calls == 0


@pytest.mark.parametrize("store", [MemoryChunkStore(2), MemoryChunkStore()])
def test_a_corpus_without_vectors_answers_lexically_and_semantic_is_empty_not_an_error(store):
    filled([(held, None) for held, _ in ROWS], store=store)
    made = ChunkRetriever(embeddings=Axes(), chunks=store)

    semantic = retrieve(made, "north", mode="semantic")
    assert (ids(semantic), semantic.semantic_count) == ([], 0)
    hybrid = retrieve(made, "north")
    assert ids(hybrid) == ["2", "1"]
    assert hybrid.semantic_count == 0
    assert hybrid.matches[0].score == 1 / 61


@pytest.mark.parametrize("mode", list(RetrievalMode))
@pytest.mark.parametrize(("k", "count"), [(0, 0), (1, 1), (1000, 2)])
def test_k_at_its_ends(mode, k, count):
    rows = [(chunk("1", "north"), (0.0, 1.0)), (chunk("2", "north north"), (0.0, 1.0))]
    assert len(ids(retrieve(retriever(rows), "north", mode=mode, k=k))) == count


@pytest.mark.parametrize("mode", list(RetrievalMode))
def test_filters_are_applied_before_k_in_every_mode(mode):
    rows = [
        (chunk("1", "north", document_id="a", metadata={"year": 1}), (0.0, 1.0)),
        (chunk("2", "north side", document_id="b", metadata={"year": 2}), (0.2, 1.0)),
        (chunk("3", "north side lane", document_id="b", source="s"), (0.4, 1.0)),
    ]
    made = retriever(rows)
    assert ids(retrieve(made, "north", mode=mode, k=1, where=ChunkFilter(document_ids=["b"]))) == ["2"]
    assert ids(retrieve(made, "north", mode=mode, k=1, where=ChunkFilter(sources=["s"]))) == ["3"]
    assert ids(retrieve(made, "north", mode=mode, where=ChunkFilter(metadata={"year": [1, 2]}))) == ["1", "2"]
    assert ids(retrieve(made, "north", mode=mode, where=ChunkFilter(document_ids=[]))) == []


@pytest.mark.parametrize(
    ("query", "options", "error"),
    [
        (" ", {}, BlankQueryError),
        ("north", {"k": -1}, InvalidInputError),
        ("north", {"mode": "psychic"}, InvalidInputError),
        ("north", {"embedding": [1.0]}, DimensionMismatchError),
        ("north", {"embedding": [float("nan"), 1.0]}, InvalidInputError),
    ],
)
def test_bad_arguments_raise_before_any_work(query, options, error):
    provider = Axes()
    with pytest.raises(error) as caught:
        retrieve(retriever(ROWS, provider=provider), query, **options)
    assert isinstance(caught.value, ValueError)
    assert provider.calls == 0


def test_a_provider_of_another_dimension_is_refused_when_built():
    with pytest.raises(DimensionMismatchError, match="dimension 2, expected 5"):
        ChunkRetriever(embeddings=Axes(), chunks=MemoryChunkStore(5))


def test_a_lexical_only_retriever_defaults_to_lexical_and_refuses_the_other_modes():
    made = ChunkRetriever.lexical_only(chunks=filled(ROWS))
    assert retrieve(made, "north").mode is RetrievalMode.LEXICAL
    for mode in ("semantic", "hybrid"):
        with pytest.raises(InvalidInputError, match="lexical only"):
            retrieve(made, "north", mode=mode)


def test_a_chunk_that_is_gone_when_it_is_fetched_is_skipped_and_nothing_moves_up():
    class Lagging(MemoryChunkStore):
        async def chunks(self, tenant, ids):
            return [None if held is None or held.id == "1" else held for held in await super().chunks(tenant, ids)]

    made = ChunkRetriever(embeddings=Axes(), chunks=filled(ROWS, store=Lagging(2)))
    result = retrieve(made, "north", k=2)
    assert (ids(result), result.dangling) == (["2"], ("1",))


@pytest.mark.parametrize("mode", list(RetrievalMode))
def test_two_tenants_with_the_same_id_see_their_own_chunk(mode):
    store = filled([(chunk("1", "north ours"), (0.0, 1.0))])
    filled([(chunk("1", "north theirs"), (0.0, 1.0))], tenant="globex", store=store)
    made = ChunkRetriever(embeddings=Axes(), chunks=store)

    assert [m.chunk.text for m in retrieve(made, "north", mode=mode).matches] == ["north ours"]
    assert [m.chunk.text for m in retrieve(made, "north", "globex", mode=mode).matches] == ["north theirs"]
    assert ids(retrieve(made, "north", "nobody", mode=mode)) == []


@pytest.mark.parametrize("mode", list(RetrievalMode))
def test_a_result_cannot_be_changed_into_a_later_answer(mode):
    made = retriever([(chunk("1", "north", metadata={"year": 1843}), (0.0, 1.0))])
    first = retrieve(made, "north", mode=mode)
    kept = first.model_dump()
    first.matches[0].chunk.metadata["year"] = 1900
    with pytest.raises(ValueError, match="frozen"):
        first.matches[0].score = 99.0

    assert retrieve(made, "north", mode=mode).model_dump() == kept


def test_blocking_calls_work_inside_and_outside_a_loop():
    made = retriever(ROWS)

    async def inside():
        return made.retrieve_chunks_blocking("north", TENANT)

    assert asyncio.run(inside()) == made.retrieve_chunks_blocking("north", TENANT) == retrieve(made, "north")


def test_a_query_of_a_million_characters_is_cut_and_the_result_says_so():
    result = retrieve(retriever(ROWS), "north " * 200_000)
    assert result.truncated is True
    assert ids(result)[0] == "2"
