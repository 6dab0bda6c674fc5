"""Facts whose names are remembered skip the model; they must come out as those that went through it."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latence_retrieval.build.facts import load_facts
from latence_retrieval.build.progress import Progress
from latence_retrieval.build.scratch import Scratch
from latence_retrieval.build.vectors import VectorSink
from latence_retrieval.errors import LatenceRetrievalError

NAMES = st.sampled_from(
    ["a", "b", "c", "nobody", "", 1, None, True, ["a"], {"entity": "a", "role": "x"}, {"entity": 1}]
)
FACTS = st.dictionaries(
    st.sampled_from(["relation", "chunk", "members", "confidence", "id", "vector", "other"]), st.none(), max_size=2
).flatmap(
    lambda extra: st.fixed_dictionaries(
        {
            "relation": st.sampled_from(["owns", "owns", "owns", "new", "", 2, None]),
            "chunk": st.sampled_from(["c", "c", "c", "absent", 0, ["c"]]),
            "members": st.one_of(
                st.lists(st.sampled_from(["a", "b", "c"]), min_size=2, max_size=4),
                st.lists(NAMES, max_size=3),
                st.sampled_from(["ab", None, ("a", "b")]),
            ),
        },
        optional={
            "confidence": st.sampled_from([0.0, 0.25, 1.0, 1, True, "0.5", -0.1, 1.5, float("nan"), None]),
            "id": st.sampled_from(["f", "", None, 3]),
            "vector": st.sampled_from([[1.0], "x", None]),
        },
    ).map(lambda fact: {**extra, **fact})
)


def _loaded(facts: list[Any], directory: Path, name: str) -> tuple[list[Any], list[Any]] | str:
    """Return the rows that the facts make, or the error in words."""
    scratch = Scratch(directory / f"{name}.sqlite", cache_bytes=1 << 20)
    try:
        for number, identifier in enumerate("abc"):
            scratch.insert("entity", (number, identifier, "{}"))
            scratch.remember("entity", identifier, number)
        scratch.insert("chunk", (0, "c", "{}", None, None))
        scratch.remember("chunk", "c", 0)
        scratch.insert("relation", (0, "owns", None))
        scratch.remember("relation", "owns", 0)
        with VectorSink(directory / name, "relation_vectors", None) as vectors:
            load_facts(scratch, facts, vectors, Progress(None))
        return list(scratch.rows("SELECT * FROM fact")), list(scratch.rows("SELECT * FROM relation"))
    except LatenceRetrievalError as error:
        return str(error)
    finally:
        scratch.close()


@given(facts=st.lists(FACTS, min_size=1, max_size=2))
@settings(max_examples=400, deadline=None)
def test_a_remembered_fact_is_as_the_model_has_it(
    tmp_path_factory: pytest.TempPathFactory, facts: list[dict[str, Any]]
) -> None:
    directory = tmp_path_factory.mktemp("facts")
    twice = [*facts, *facts]  # the second time, the relation is remembered too
    through_the_model = [MappingProxyType(fact) for fact in twice]
    assert _loaded(twice, directory, "plain") == _loaded(through_the_model, directory, "model")
