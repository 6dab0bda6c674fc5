from latence_retrieval.lexical.terms import ANALYSERS, Analyser, analyser_named

PLAIN = ANALYSERS["plain-1"]


def test_terms_are_normal_forms_with_repetitions():
    assert PLAIN.terms("The Café, the CAFE") == ["the", "cafe", "the", "cafe"]


def test_scripts_without_spaces_give_characters_and_pairs():
    assert PLAIN.terms("東京都 x") == ["東", "京", "都", "x", "東京", "京都"]


def test_characters_that_are_not_neighbours_make_no_pair():
    assert PLAIN.terms("東 京") == ["東", "京"]


def test_a_stemmer_of_ones_own_is_applied_to_every_form():
    assert Analyser("first-letter", lambda form: form[0]).terms("Red Fox") == ["r", "f"]


def test_the_english_analyser_joins_plural_and_singular():
    assert ANALYSERS["english-1"].terms("films film") == ["film", "film"]


def test_an_unknown_analyser_is_none():
    assert analyser_named("klingon-7") is None
    assert analyser_named("plain-1") is PLAIN
