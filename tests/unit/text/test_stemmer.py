import pytest

from latence_retrieval.text.stemmer import stem_english


@pytest.mark.parametrize(
    ("form", "stem"),
    [
        ("films", "film"),
        ("cities", "city"),
        ("houses", "house"),
        ("does", "does"),
        ("glass", "glass"),
        ("corpus", "corpus"),
        ("gas", "gas"),
        ("aies", "aies"),
        ("running", "running"),
        ("älles", "älles"),
    ],
)
def test_only_plurals_are_taken_off(form, stem):
    assert stem_english(form) == stem
