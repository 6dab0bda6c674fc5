import unicodedata

import pytest

from latence_retrieval.lexical.blocking import ALL_KINDS, CLASSIC_KINDS, KeyKind, key_weight, name_keys, query_keys
from latence_retrieval.records import Entity


def shared(query, name, *aliases, kinds=ALL_KINDS):
    entity = Entity(id="1", name=name, aliases=aliases)
    return set(query_keys(query, kinds=kinds)) & set(name_keys(entity))


def test_keys_of_a_name_are_sorted_and_each_kind_is_there():
    assert name_keys(Entity(id="1", name="Ada Lovelace")) == [
        "=ada lovelace",
        "e<lov",
        "e<love",
        "e>ace",
        "e>lace",
        "pada l",
        "sa341",
        "tada",
        "tlovelace",
    ]


@pytest.mark.parametrize(
    "query", ["Ada Lovelace", "ada LOVELACE", "Ada Lovelace, Countess", "Ada Lovelase", "Ada Lovlace"]
)
def test_what_classic_blocking_finds_is_found_by_classic_keys_alone(query):
    assert shared(query, "Ada Lovelace", kinds=CLASSIC_KINDS)


@pytest.mark.parametrize("query", ["Lovelace", "Lovelace, Ada", "who was Ada Lovelace?", "xda Lovelace"])
def test_what_classic_blocking_misses_is_found_by_the_other_keys(query):
    assert not shared(query, "Ada Lovelace", kinds=CLASSIC_KINDS)
    assert shared(query, "Ada Lovelace")


def test_aliases_have_keys_of_their_own():
    assert "=countess of lovelace" in shared("Countess of Lovelace", "Augusta King", "Countess of Lovelace")


@pytest.mark.parametrize("place", range(7))
def test_one_wrong_letter_anywhere_in_a_short_name_leaves_a_key(place):
    name = "tolstoi"
    typo = name[:place] + "x" + name[place + 1 :]
    assert shared(typo, name, kinds=frozenset({KeyKind.END}))


@pytest.mark.parametrize("name", ["tolstoi", "babbages", "babbagesx", "babbagesxy"])
def test_one_lost_or_added_letter_leaves_an_end_at_every_length(name):
    ends = frozenset({KeyKind.END})
    for place in range(len(name)):
        assert shared(name[:place] + name[place + 1 :], name, kinds=ends), place
        assert shared(name[:place] + "q" + name[place:], name, kinds=ends), place


def test_a_long_query_is_not_looked_up_by_the_ends_of_its_words():
    assert query_keys("one two three four five sixth", kinds=frozenset({KeyKind.END})) == []


def test_initials_find_a_name_of_three_words_or_more():
    acronym = frozenset({KeyKind.ACRONYM})
    assert shared("BJS", "Bureau of Justice Statistics", kinds=acronym) == {"abjs"}
    assert shared("al", "Ada Lovelace", kinds=acronym) == set()


def test_rare_keys_weigh_more_and_telling_kinds_double():
    assert key_weight("pada l", 1, 100) > key_weight("pada l", 50, 100) > 0.0
    assert key_weight("tada", 7, 100) == 2 * key_weight("pada l", 7, 100)
    assert key_weight("e<ada", 1000, 10**6) > key_weight("e<ada", 1001, 10**6) == 0.0


def test_a_name_inside_a_question_shares_its_whole_form():
    keys = query_keys("Which river flows through The Hague today?")
    assert "=the hague" in keys


def test_function_words_are_no_token_keys_unless_there_is_nothing_else():
    assert "tof" not in query_keys("University of Oslo")
    assert {"tthe", "twho"} <= set(name_keys(Entity(id="1", name="The Who")))
    assert "=the" in query_keys("The")


def test_scripts_without_spaces_block_on_pairs():
    assert "t東京" in shared("私は東京都に", "東京")


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKD"])
def test_encoding_does_not_change_the_keys(form):
    name = "Zoë Čapek"
    assert name_keys(Entity(id="1", name=unicodedata.normalize(form, name))) == name_keys(Entity(id="1", name=name))


@pytest.mark.parametrize("text", ["", "...", "\u200b"])
def test_a_text_without_letters_has_no_keys(text):
    assert query_keys(text) == []
    assert name_keys(Entity(id="1", name=text or "?")) == []


def test_a_query_of_any_length_has_a_bounded_number_of_keys():
    assert len(query_keys("many different words " * 1_000)) < 600
    assert len(query_keys(" ".join(f"w{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(5000)))) < 700


def test_only_the_kinds_asked_for_come_back():
    assert {key[0] for key in query_keys("Ada", kinds=frozenset({KeyKind.TOKEN}))} == {"t"}
    assert {key[0] for key in query_keys("Ada")} == {"=", "p", "s", "t", "a"}
