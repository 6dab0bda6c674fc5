"""String similarity and Soundex equal a naive computation and the libraries that may stand in for them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latence_retrieval.text.phonetics import plain_soundex
from latence_retrieval.text.similarity import common_subsequence, string_similarity

TEXT = st.text(alphabet="abcdé東 ", max_size=24)


def naive_common_subsequence(left, right):
    row = [0] * (len(right) + 1)
    for one in left:
        previous = 0
        for place, other in enumerate(right, start=1):
            previous, row[place] = row[place], previous + 1 if one == other else max(row[place], row[place - 1])
    return row[-1]


@given(TEXT, TEXT)
def test_the_common_subsequence_is_as_long_as_the_table_says(left, right):
    assert common_subsequence(left, right) == naive_common_subsequence(left, right)


@given(TEXT, TEXT)
def test_similarity_is_symmetric_bounded_and_one_only_for_equals(left, right):
    score = string_similarity(left, right)
    assert score == string_similarity(right, left)
    assert 0.0 <= score <= 1.0
    assert (score == 1.0) == (left == right)


@given(TEXT, TEXT)
def test_rapidfuzz_counts_the_same(left, right):
    distance = pytest.importorskip("rapidfuzz.distance")
    assert distance.LCSseq.similarity(left, right) == common_subsequence(left, right)


@given(st.text(alphabet="abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=16))
def test_jellyfish_gives_the_same_code(letters):
    jellyfish = pytest.importorskip("jellyfish")
    assert jellyfish.soundex(letters).lower() == plain_soundex(letters)
