"""`Retriever` fuses two channels by rank and keeps what each said; what the stores lack is left out."""

import asyncio

import pytest

from latence_retrieval.entities import Retriever
from latence_retrieval.memory.entity_store import MemoryEntityStore, MemoryVectorStore
from latence_retrieval.ports.stores import Ranked
from latence_retrieval.retrieval_results import RetrievalMode
from tests.unit.entities.people import PEOPLE, TENANT, Axes, entity, ids, retrieve, retriever

# Fusion


@pytest.mark.parametrize("double", [False, True])
def test_an_entity_first_in_both_channels_gets_the_sum_of_both_reciprocals(double):
    made = retriever(
        [(entity("1", "North"), (0.0, 1.0)), (entity("2", "Northern"), (0.5, 1.0)), (entity("3", "East"), (1.0, 0.0))],
        double=double,
    )
    result = retrieve(made, "north")

    assert result.matches[0].score == 2 / 61
    assert (result.matches[0].semantic, result.matches[0].lexical) == (1.0, 1.0)
    assert result.matches[1].score == 2 / 62
    assert result.matches[2].score == 1 / 63


@pytest.mark.parametrize("double", [False, True])
def test_two_entities_with_crossed_ranks_tie_and_the_smaller_id_comes_first(double):
    made = retriever(
        [(entity("b", "North"), (0.5, 1.0)), (entity("a", "Northe"), (0.0, 1.0))],
        double=double,
    )
    result = retrieve(made, "north")

    assert ids(result) == ["a", "b"]
    assert result.matches[0].score == result.matches[1].score == 1 / 61 + 1 / 62


def test_k_cuts_through_a_tie_by_id():
    made = retriever([(entity(letter, "North"), None) for letter in "cab"])
    assert ids(retrieve(made, "north", k=2)) == ["a", "b"]


def test_the_first_places_do_not_depend_on_k():
    rows = [(entity(f"{n:03}", f"North{'abcdefghij'[n % 10]}"), (n / 60, 1.0)) for n in range(60)]
    made = retriever(rows)
    longest = ids(retrieve(made, "north", k=20))
    for k in (1, 5, 19):
        assert ids(retrieve(made, "north", k=k)) == longest[:k]


# Components


def test_none_says_not_ranked_and_zero_says_ranked_as_unlike():
    made = retriever([(entity("1", "Zuse"), (0.0, -1.0)), (entity("2", "North"), None)])
    opposite, named = sorted(retrieve(made, "north").matches, key=lambda match: match.entity.id)

    assert opposite.semantic == 0.0
    assert opposite.lexical is None
    assert named.semantic is None
    assert named.lexical == 1.0


@pytest.mark.parametrize(
    ("mode", "channels"),
    [
        (RetrievalMode.SEMANTIC, (True, False)),
        (RetrievalMode.LEXICAL, (False, True)),
        ("hybrid", (True, True)),
        (None, (True, True)),
    ],
)
def test_a_mode_runs_its_channels_and_leaves_the_other_component_none(mode, channels):
    result = retrieve(retriever([(entity("1", "North"), (0.0, 1.0))]), "north", mode=mode)
    (match,) = result.matches

    assert (match.semantic is not None, match.lexical is not None) == channels
    assert (result.semantic_count is not None, result.lexical_count is not None) == channels
    assert match.matched == ("North" if channels[1] else None)


def test_the_lexical_mode_makes_no_embedding_call():
    provider = Axes()
    retrieve(retriever([(entity("1", "North"), (0.0, 1.0))], provider=provider), "north", mode="lexical")
    assert provider.calls == 0


def test_an_embedding_of_the_callers_own_saves_the_call():
    provider = Axes()
    made = retriever([(entity("1", "X"), (0.0, 1.0)), (entity("2", "Y"), (1.0, 0.0))], provider=provider)
    assert ids(retrieve(made, "north", mode="semantic", embedding=[1.0, 0.0])) == ["2", "1"]
    assert provider.calls == 0


# Dangling


@pytest.mark.parametrize("double", [False, True])
def test_a_dangling_match_is_skipped_and_the_good_one_behind_it_stays(double):
    made = retriever(
        [(entity("a", "A"), (0.0, 1.0)), (entity("c", "C"), (0.6, 1.0))], dangling=[("b", (0.3, 1.0))], double=double
    )
    result = retrieve(made, "north", mode="semantic")
    assert ids(result) == ["a", "c"]
    assert result.dangling == ("b",)
    assert result.matches[1].score == 1 / 63


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_nothing_moves_up_for_a_dangling_match(mode):
    made = retriever([(entity("a", "A"), (0.0, 1.0)), (entity("c", "C"), (0.6, 1.0))], dangling=[("b", (0.3, 1.0))])
    assert ids(retrieve(made, "north", k=2, mode=mode)) == ["a"]


def test_a_corpus_of_dangling_matches_gives_an_empty_result():
    result = retrieve(retriever([], dangling=[("a", (0.0, 1.0)), ("b", (1.0, 1.0))]), "north")
    assert (result.matches, result.dangling) == ((), ("a", "b"))


def test_a_duplicate_in_a_ranking_counts_once_at_its_best_rank():
    class Stuttering(MemoryVectorStore):
        async def nearest_entities(self, *args, **options):
            return [Ranked("a", 0.9), Ranked("a", 0.8), Ranked("b", 0.7)]

    entities = MemoryEntityStore()
    asyncio.run(entities.put_entities(TENANT, [entity("a", "A"), entity("b", "B")]))
    result = retrieve(Retriever(embeddings=Axes(), vectors=Stuttering(2), entities=entities), "x", mode="semantic")
    assert [(m.entity.id, m.score, m.semantic) for m in result.matches] == [("a", 1 / 61, 0.9), ("b", 1 / 62, 0.7)]


def test_a_query_of_a_million_characters_is_cut_and_the_result_says_so():
    query = "Ada Lovelace " + "x" * 1_000_000
    result = retrieve(retriever(PEOPLE), query)
    assert (result.query, result.truncated) == (query, True)
    assert retrieve(retriever(PEOPLE), "Ada").truncated is False
