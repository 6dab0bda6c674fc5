"""What a call refuses, what its result is, and how synchronous code calls."""

import asyncio

import pytest

from latence_retrieval.entities import Retriever
from latence_retrieval.errors import BlankQueryError, DimensionMismatchError, InvalidInputError
from latence_retrieval.memory.entity_store import MemoryEntityStore, MemoryVectorStore
from latence_retrieval.retrieval_results import RetrievalMode, ScoredEntity
from latence_retrieval.testing.embeddings import HashingEmbeddingProvider
from tests.unit.entities.people import PEOPLE, TENANT, Axes, entity, ids, retrieve, retriever

# Errors


@pytest.mark.parametrize("query", ["", " ", "\t\n\u2003"])
@pytest.mark.parametrize("k", [0, 5])
def test_a_blank_query_raises_before_any_work(query, k):
    provider = Axes()
    with pytest.raises(BlankQueryError):
        retrieve(retriever(PEOPLE, provider=provider), query, k=k)
    with pytest.raises(ValueError, match="blank"):
        retrieve(Retriever.lexical_only(entities=MemoryEntityStore()), query, k=k)
    assert provider.calls == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": -1}, "k: is -1"),
        ({"mode": "psychic"}, "mode: is 'psychic'"),
        ({"entity_types": "person"}, "entity_types: is a string"),
        ({"embedding": [float("nan"), 0.0]}, "embedding"),
        ({"embedding": [float("inf"), 0.0]}, "embedding"),
    ],
)
def test_bad_arguments_raise_before_any_work(options, message):
    provider = Axes()
    with pytest.raises(InvalidInputError, match=message):
        retrieve(retriever(PEOPLE, provider=provider), "north", **options)
    assert provider.calls == 0


def test_a_provider_of_another_dimension_is_refused_when_built():
    with pytest.raises(DimensionMismatchError, match="dimension 2, expected 3"):
        Retriever(embeddings=Axes(), vectors=MemoryVectorStore(3), entities=MemoryEntityStore())


def test_an_embedding_of_another_dimension_is_refused():
    with pytest.raises(DimensionMismatchError, match="embedding: has dimension 3, expected 2"):
        retrieve(retriever(PEOPLE), "north", embedding=[1.0, 2.0, 3.0])


@pytest.mark.parametrize("answer", [[], [(1.0, 0.0), (1.0, 0.0)], [(1.0, 0.0, 0.0)], [(float("nan"), 0.0)]])
def test_a_provider_that_answers_wrongly_is_named(answer):
    with pytest.raises(InvalidInputError, match="embeddings"):
        retrieve(retriever(PEOPLE, provider=Axes(answer)), "north")


def test_a_failing_store_fails_the_call_with_its_own_error():
    class Broken(MemoryEntityStore):
        async def name_candidates(self, *args, **options):
            raise ConnectionError("gone")

    made = Retriever(embeddings=Axes(), vectors=MemoryVectorStore(2), entities=Broken())
    with pytest.raises(ConnectionError, match="gone"):
        retrieve(made, "north")


# Lexical only


def test_a_lexical_only_retriever_needs_no_provider_and_defaults_to_lexical():
    made = Retriever.lexical_only(entities=retriever(PEOPLE).stores[0])
    result = retrieve(made, "Ada Lovelase")
    assert (ids(result), result.mode) == (["ada"], RetrievalMode.LEXICAL)


@pytest.mark.parametrize("mode", [RetrievalMode.SEMANTIC, "hybrid"])
@pytest.mark.parametrize("k", [0, 3])
def test_a_lexical_only_retriever_refuses_the_other_modes(mode, k):
    made = Retriever.lexical_only(entities=retriever(PEOPLE).stores[0])
    with pytest.raises(ValueError, match="lexical only"):
        retrieve(made, "Ada", mode=mode, k=k)


# Results


@pytest.mark.parametrize("mode", list(RetrievalMode))
def test_a_result_cannot_be_changed_into_a_later_answer(mode):
    made = retriever([(entity("1", "North", colour="red"), (0.0, 1.0))])
    first = retrieve(made, "north", mode=mode)
    kept = first.model_dump()
    first.matches[0].entity.properties["colour"] = "blue"
    first.matches[0].entity.properties["stray"] = True
    with pytest.raises(ValueError, match="frozen"):
        first.matches[0].score = 99.0
    with pytest.raises(ValueError, match="frozen"):
        first.matches = ()

    assert retrieve(made, "north", mode=mode).model_dump() == kept


def test_a_result_survives_json():
    result = retrieve(retriever(PEOPLE), "Augusta Ada King")
    assert type(result).model_validate_json(result.model_dump_json()) == result


def test_the_type_refuses_a_component_outside_its_scale():
    with pytest.raises(ValueError, match="semantic"):
        ScoredEntity(entity=PEOPLE[0][0], score=0.01, semantic=1.5)


# From synchronous code


def test_blocking_calls_work_outside_a_loop_inside_one_and_from_threads():
    made = retriever([(entity("1", "North"), (0.0, 1.0))])
    outside = made.retrieve_blocking("north", TENANT)

    async def inside():
        from_thread = await asyncio.to_thread(made.retrieve_blocking, "north", TENANT)
        return made.retrieve_blocking("north", TENANT), from_thread

    assert outside == retrieve(made, "north")
    assert asyncio.run(inside()) == (outside, outside)


def test_blocking_calls_raise_what_the_call_raised():
    with pytest.raises(BlankQueryError):
        retriever(PEOPLE).retrieve_blocking(" ", TENANT)


def test_all_blocking_calls_share_one_event_loop():
    loops = []

    class Recording(HashingEmbeddingProvider):
        async def embed(self, texts):
            loops.append(asyncio.get_running_loop())
            return await super().embed(texts)

    made = Retriever(embeddings=Recording(2), vectors=MemoryVectorStore(2), entities=MemoryEntityStore())
    for _ in range(2):
        made.retrieve_blocking("north", TENANT)
    assert loops[0] is loops[1]
