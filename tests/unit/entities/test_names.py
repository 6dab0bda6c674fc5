"""Which entities the lexical channel finds by name."""

import pytest

from latence_retrieval.entities import CLASSIC_LEXICAL, LexicalSettings, Retriever
from latence_retrieval.lexical.blocking import KeyKind
from latence_retrieval.retrieval_results import MatchedField
from tests.unit.entities.people import PEOPLE, ids, retrieve, retriever


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
