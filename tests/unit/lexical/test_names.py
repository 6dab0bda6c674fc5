import pytest

from latence_retrieval.lexical.blocking import CLASSIC_KINDS
from latence_retrieval.lexical.names import ALIAS_WEIGHT, PROPERTY_WEIGHT, MatchedField, NameScorer
from latence_retrieval.records import Entity


def entity(name, *aliases, **properties):
    return Entity(id="1", name=name, aliases=aliases, properties=properties)


def score(query, name):
    return NameScorer(query).match(entity(name)).score


def test_the_same_name_scores_one_however_it_is_written():
    assert score("MALMÖ", "Malmo") == 1.0


def test_better_answers_score_higher():
    exact = score("Ada Lovelace", "Ada Lovelace")
    reordered = score("Lovelace, Ada", "Ada Lovelace")
    misspelt = score("Ada Lovelase", "Ada Lovelace")
    surname = score("Lovelace", "Ada Lovelace")
    assert exact > reordered == 0.95
    assert exact > misspelt > surname > 0.6


def test_of_two_names_in_a_question_the_longer_scores_higher():
    question = "who taught at the Free University of Brussels in 1950"
    assert score(question, "Free University of Brussels") > score(question, "Brussels")


def test_the_string_that_matched_is_told():
    found = NameScorer("Countess Lovelace").match(entity("Augusta King", "A. K.", "Countess Lovelace"))
    assert found == (ALIAS_WEIGHT, "Countess Lovelace", MatchedField.ALIAS)


def test_a_name_comes_before_an_equal_alias_and_an_alias_before_a_property():
    found = NameScorer("Ada").match(entity("Ada", "ADA", nick="ada"))
    assert (found.matched, found.field) == ("Ada", MatchedField.NAME)


def test_string_properties_count_less_and_other_properties_not_at_all():
    found = NameScorer("mathematician").match(entity("Zzz", field="mathematician", born=1815))
    assert found == (PROPERTY_WEIGHT, "mathematician", MatchedField.PROPERTY)
    assert NameScorer("1815").match(entity("Zzz", born=1815)) is None


def test_without_aliases_an_entity_that_only_its_alias_would_find_is_none():
    augusta = entity("Augusta King", "Countess Lovelace")
    assert NameScorer("Countess Lovelace", aliases=False).match(augusta) is None
    assert NameScorer("Augusta Kong", aliases=False).match(augusta).field is MatchedField.NAME


def test_with_classic_keys_shared_words_are_not_rewarded():
    assert NameScorer("Lovelace, Ada", kinds=CLASSIC_KINDS).match(entity("Ada Lovelace")).score < 0.95


@pytest.mark.parametrize("query", ["...", "?"])
def test_a_query_without_letters_is_like_nothing(query):
    assert NameScorer(query).match(entity("!?")) is None
    assert NameScorer(query).match(entity("Ada")) is None


def test_of_equally_good_aliases_the_first_is_told():
    written = ["King Orrin", "king Orrin", "King orrin", "KING ORRIN", "King-Orrin", "KING Orrin", "King ORRIN"]
    for first in range(len(written)):
        aliases = written[first:] + written[:first]
        match = NameScorer("King Orrin").match(entity("Velden", *aliases))
        assert match.matched == aliases[0]
