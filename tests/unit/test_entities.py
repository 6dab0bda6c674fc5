import asyncio
from uuid import UUID

import pytest

from latence_retrieval.entities import CLASSIC_LEXICAL, LexicalSettings, Retriever
from latence_retrieval.errors import BlankQueryError, DimensionMismatchError, InvalidInputError
from latence_retrieval.lexical.blocking import KeyKind
from latence_retrieval.memory.entity_store import MemoryEntityStore, MemoryVectorStore
from latence_retrieval.ports.stores import Ranked
from latence_retrieval.records import Entity
from latence_retrieval.retrieval_results import MatchedField, RetrievalMode, ScoredEntity
from latence_retrieval.testing.doubles import RebuildingEntityStore, RebuildingVectorStore
from latence_retrieval.testing.embeddings import HashingEmbeddingProvider

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


# ---- fusion ------------------------------------------------------------------------------------------------


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


# ---- components --------------------------------------------------------------------------------------------


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


# ---- what the lexical channel finds ------------------------------------------------------------------------


PEOPLE = [
    (entity("ada", "Ada Lovelace", type="person", aliases=("Augusta Ada King",), field="mathematics"), None),
    (entity("charles", "Charles Babbage", type="person"), None),
    (entity("engine", "Analytical Engine", type="machine"), None),
]


@pytest.mark.parametrize(
    ("query", "found", "matched", "field"),
    [
        ("Ada Lovelace", "ada", "Ada Lovelace", MatchedField.NAME),
        ("ada LOVELACE", "ada", "Ada Lovelace", MatchedField.NAME),
        ("Ada Lovelace, Countess", "ada", "Ada Lovelace", MatchedField.NAME),
        ("Charles Babage", "charles", "Charles Babbage", MatchedField.NAME),
        ("Lovelace", "ada", "Ada Lovelace", MatchedField.NAME),
        ("Lovelace, Ada", "ada", "Ada Lovelace", MatchedField.NAME),
        ("Augusta Ada King", "ada", "Augusta Ada King", MatchedField.ALIAS),
        ("What did Charles Babbage build in London?", "charles", "Charles Babbage", MatchedField.NAME),
        ("\uff21\uff44\uff41 Lovelace", "ada", "Ada Lovelace", MatchedField.NAME),
    ],
)
def test_a_name_is_found_and_the_result_says_which_string_matched(query, found, matched, field):
    result = retrieve(Retriever.lexical_only(entities=retriever(PEOPLE).stores[0]), query)
    match = result.matches[0]
    assert (match.entity.id, match.matched, match.matched_field) == (found, matched, field)


@pytest.mark.parametrize("query", ["Lovelace", "Lovelace, Ada", "Augusta Ada King", "where did Ada Lovelace live"])
def test_the_classic_keys_alone_miss_what_they_are_known_to_miss(query):
    made = retriever(PEOPLE, lexical=CLASSIC_LEXICAL)
    assert "ada" not in ids(retrieve(made, query, mode="lexical"))


def test_each_kind_of_key_can_be_switched_off():
    off = LexicalSettings(keys=LexicalSettings().keys - {KeyKind.TOKEN, KeyKind.END})
    assert ids(retrieve(retriever(PEOPLE, lexical=off), "Lovelace", mode="lexical")) == []
    no_aliases = LexicalSettings(aliases=False)
    assert ids(retrieve(retriever(PEOPLE, lexical=no_aliases), "Augusta King", mode="lexical")) == []


def test_a_query_that_names_nobody_finds_nothing_by_name():
    assert ids(retrieve(retriever(PEOPLE), "who worked on early computing", mode="lexical")) == []


def test_a_query_without_any_letter_finds_nothing_by_name_and_does_not_fail():
    assert ids(retrieve(retriever(PEOPLE), "?!", mode="lexical")) == []


# ---- filters and limits ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", list(RetrievalMode))
def test_types_are_applied_before_k_in_every_mode(mode):
    made = retriever(
        [
            (entity("1", "North", type="a"), (0.0, 1.0)),
            (entity("2", "Northe", type="a"), (0.1, 1.0)),
            (entity("3", "Norther", type="b"), (0.5, 1.0)),
        ]
    )
    assert ids(retrieve(made, "north", mode=mode, k=1, entity_types=["b"])) == ["3"]
    assert ids(retrieve(made, "north", mode=mode, entity_types=["c"])) == []
    assert ids(retrieve(made, "north", mode=mode, entity_types=["a", "b"])) == ["1", "2", "3"]


@pytest.mark.parametrize("mode", list(RetrievalMode))
@pytest.mark.parametrize(("k", "expected"), [(0, []), (1, ["1"]), (1000, ["1", "2"])])
def test_k_at_its_ends(mode, k, expected):
    made = retriever([(entity("1", "North"), (0.0, 1.0)), (entity("2", "Norths"), (0.2, 1.0))])
    assert ids(retrieve(made, "north", mode=mode, k=k)) == expected


@pytest.mark.parametrize("options", [{"k": 0}, {"entity_types": []}])
def test_an_answer_that_must_be_empty_costs_no_embedding(options):
    provider = Axes()
    result = retrieve(retriever(PEOPLE, provider=provider), "north", **options)
    assert result.matches == ()
    assert provider.calls == 0


# ---- errors ------------------------------------------------------------------------------------------------


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


# ---- lexical only ------------------------------------------------------------------------------------------


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


# ---- dangling ----------------------------------------------------------------------------------------------


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


# ---- tenants -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("mode", list(RetrievalMode))
def test_two_tenants_with_the_same_id_see_their_own_entity(mode, double):
    made = retriever([(entity("1", "North Ours"), (0.0, 1.0))], double=double)
    add(*made.stores, "globex", [(entity("1", "North Theirs"), (0.0, 1.0)), (entity("2", "North Two"), (0.0, 1.0))])

    assert [m.entity.name for m in retrieve(made, "north", mode=mode).matches] == ["North Ours"]
    assert {m.entity.name for m in retrieve(made, "north", "globex", mode=mode).matches} == {
        "North Theirs",
        "North Two",
    }
    assert retrieve(made, "north", "nobody", mode=mode).matches == ()


def test_a_tenant_may_be_a_uuid_or_its_canonical_string():
    tenant = UUID("6BA7B810-9DAD-11D1-80B4-00C04FD430C8")
    made = retriever([(entity("1", "North"), (0.0, 1.0))], tenant=tenant)
    assert ids(retrieve(made, "north", tenant)) == ids(retrieve(made, "north", str(tenant))) == ["1"]


# ---- results -----------------------------------------------------------------------------------------------


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


# ---- from synchronous code ---------------------------------------------------------------------------------


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
