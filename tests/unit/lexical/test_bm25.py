import math

import pytest

from latence_retrieval.errors import InvalidInputError
from latence_retrieval.lexical.bm25 import Bm25, inverse_document_frequency
from latence_retrieval.lexical.memory_postings import MemoryPostings
from latence_retrieval.lexical.terms import ANALYSERS

PLAIN = ANALYSERS["plain-1"]


def indexed(*texts):
    source = MemoryPostings(analyser=PLAIN)
    for number, text in enumerate(texts):
        source.add(number, text)
    return source


def test_a_score_is_the_textbook_formula_without_its_constant_factor():
    bm25 = Bm25(indexed("red fox", "red red hen barn", "blue"), k1=1.2, b=0.75)
    average = 7 / 3
    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))

    assert bm25.scores(["red"], [1])[0] == pytest.approx(idf * 2 / (2 + 1.2 * (0.25 + 0.75 * 4 / average)))


@pytest.mark.parametrize("documents", [1, 2, 3, 1000])
def test_idf_stays_above_zero_even_for_a_term_of_every_chunk(documents):
    assert inverse_document_frequency(documents, documents) > 0.0


def test_a_term_in_every_chunk_still_ranks_them():
    assert [number for number, _ in Bm25(indexed("the", "the long text here", "the the")).top(["the"], 9)] == [2, 0, 1]


def test_a_repeated_query_term_counts_as_often():
    bm25 = Bm25(indexed("red", "blue"))
    assert bm25.scores(["red", "red"], [0])[0] == pytest.approx(2 * bm25.scores(["red"], [0])[0])


def test_scores_answer_each_number_in_the_order_asked():
    bm25 = Bm25(indexed("red", "blue", "red blue"))
    assert bm25.scores(["red"], [1, 2, 0, 1]) == [0.0, bm25.scores(["red"], [2])[0], bm25.scores(["red"], [0])[0], 0.0]
    assert bm25.scores([], [0]) == [0.0]
    assert bm25.scores(["red"], []) == []


@pytest.mark.parametrize(("k", "expected"), [(0, []), (1, [0]), (2, [0, 2]), (99, [0, 2])])
def test_top_gives_at_most_k_and_only_chunks_that_hold_a_term(k, expected):
    assert [number for number, _ in Bm25(indexed("red", "blue", "red blue")).top(["red"], k)] == expected


def test_equal_scores_are_ordered_by_number_and_by_id_where_ids_are_given():
    bm25 = Bm25(indexed("red", "red", "red"))
    names = {0: "c", 1: "a", 2: "b"}

    assert [number for number, _ in bm25.top(["red"], 2)] == [0, 1]
    assert [number for number, _ in bm25.top(["red"], 2, ids=lambda numbers: [names[n] for n in numbers])] == [1, 2]


def test_the_filter_applies_before_k():
    bm25 = Bm25(indexed("red", "red and more words", "red and many more words still"))
    assert [number for number, _ in bm25.top(["red"], 1, allowed={2})] == [2]
    assert bm25.top(["red"], 5, allowed=set()) == []


def test_no_terms_and_an_empty_corpus_give_nothing():
    assert Bm25(indexed("red")).top([], 5) == []
    assert Bm25(indexed()).top(["red"], 5) == []


@pytest.mark.parametrize("settings", [{"k1": -1}, {"k1": math.nan}, {"k1": math.inf}, {"b": 1.1}, {"b": math.nan}])
def test_parameters_outside_their_range_are_refused(settings):
    with pytest.raises(InvalidInputError):
        Bm25(indexed(), **settings)


def test_a_negative_k_is_refused():
    with pytest.raises(InvalidInputError, match="k:"):
        Bm25(indexed()).top(["red"], -1)
