"""Types, `k` and tenants say what may be found."""

from uuid import UUID

import pytest

from latence_retrieval.retrieval_results import RetrievalMode
from tests.unit.entities.people import PEOPLE, Axes, add, entity, ids, retrieve, retriever

# Filters and limits


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


# Tenants


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
