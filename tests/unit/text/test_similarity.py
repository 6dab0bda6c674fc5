import subprocess
import sys
import unicodedata

import pytest

from latence_retrieval.text.similarity import common_subsequence, name_similarity, string_similarity


@pytest.mark.parametrize(
    ("left", "right", "score"),
    [
        ("", "", 1.0),
        ("", "a", 0.0),
        ("abc", "abc", 1.0),
        ("abc", "xyz", 0.0),
        ("babbage", "babage", 2 * 6 / 13),
        ("ab", "ba", 0.5),
    ],
)
def test_similarity_is_twice_the_common_part_over_both_lengths(left, right, score):
    assert string_similarity(left, right) == score
    assert string_similarity(right, left) == score


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (unicodedata.normalize("NFC", "Zoë Čapek"), unicodedata.normalize("NFD", "Zoë Čapek")),
        ("\uff21\uff44\uff41", "Ada"),
        ("Malmö", "MALMO"),
        ("O’Brien", "O'Brien"),
    ],
)
def test_names_that_differ_only_in_how_they_are_encoded_are_equal(left, right):
    assert name_similarity(left, right) == 1.0


@pytest.mark.parametrize("switch", ["0", "1"])
def test_the_score_is_the_same_with_and_without_the_extra(switch):
    code = (
        "from latence_retrieval.text.similarity import string_similarity as s\n"
        "from latence_retrieval.text.phonetics import soundex as x\n"
        "print(s('charles babbage', 'charls babage'), s('ab', ''), x('charles babbage'), x('ashcraft'), x('東'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            "LATENCE_RETRIEVAL_FUZZY": switch,
            "PYTHONPATH": ":".join(sys.path),
            "PYTHONIOENCODING": "utf-8",
            "PYTHONUTF8": "1",
        },
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout.split() == [str(2 * 13 / 28), "0.0", "c642", "a261"]


def test_a_long_string_is_no_trouble():
    assert common_subsequence("ab" * 3000, "ba" * 3000) == 5999
