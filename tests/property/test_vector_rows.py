"""Nearest neighbours in memory equal a sort of all exact cosines, with numpy and without, through any changes."""

import math
import random
from array import array

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latence_retrieval.memory.vector_rows import VectorRows
from latence_retrieval.vectors import normalised

COMPONENT = st.sampled_from([-2.0, -1.0, 0.0, 0.5, 1.0, 3.0])
VECTOR = st.tuples(COMPONENT, COMPONENT, COMPONENT)


def naive(vectors, query, k, allowed):
    unit = normalised(query)
    scored = []
    for identifier, vector in vectors.items():
        if any(vector) and any(unit) and (allowed is None or identifier in allowed):
            stored = array("f", normalised(vector))
            cosine = math.fsum(a * b for a, b in zip(unit, stored, strict=True))
            scored.append((identifier, min(1.0, max(-1.0, round(cosine, 7)))))
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("abcdefghij"), VECTOR | st.none()), max_size=30),
    VECTOR,
    st.integers(0, 12),
    st.none() | st.sets(st.sampled_from("abcdefghijk")),
)
def test_nearest_equals_a_full_sort(changes, query, k, allowed):
    held = {}
    kinds = [VectorRows(3, use_numpy=False), VectorRows(3, use_numpy=True)]
    for identifier, vector in changes:
        held.pop(identifier, None)
        for rows in kinds:
            if vector is None:
                rows.remove(identifier)
            else:
                rows.put(identifier, vector)
        if vector is not None:
            held[identifier] = vector
    for rows in kinds:
        assert rows.nearest(query, k, allowed=allowed) == naive(held, query, k, allowed)


@pytest.mark.parametrize("noise", [1e-4, 0.3])
def test_numpy_and_the_standard_library_agree_to_the_last_bit_on_near_ties_and_apart(noise):
    pytest.importorskip("numpy")
    draw = random.Random(3)
    centre = [draw.gauss(0, 1) for _ in range(48)]
    plain, fast = VectorRows(48, use_numpy=False), VectorRows(48, use_numpy=True)
    for number in range(400):
        vector = [value + draw.gauss(0, noise) for value in centre]
        for rows in (plain, fast):
            rows.put(f"{number:03}", vector)
    allowed = [f"{number:03}" for number in range(250, 400)]
    for k in (1, 7, 399, 400, 500):
        assert plain.nearest(centre, k) == fast.nearest(centre, k)
        assert plain.nearest(centre, k, allowed=allowed) == fast.nearest(centre, k, allowed=allowed)
        assert [i for i, _ in fast.nearest(centre, 400) if i in allowed][:k] == [
            i for i, _ in fast.nearest(centre, k, allowed=allowed)
        ]
