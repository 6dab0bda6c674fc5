"""The demo shows what the library gave, and counts it right."""

from __future__ import annotations

import re

import pytest

from latence_retrieval import Sidecar, retrieve_evidence
from latence_retrieval.cli import main
from latence_retrieval.cli.comparison import compare, totals
from latence_retrieval.cli.demo_screen import question_lines
from latence_retrieval.cli.sample_data import build_sample, sample_questions
from latence_retrieval.cli.terminal import Terminal, cells
from latence_retrieval.prompt import packed_text
from latence_retrieval.select.tokens import estimate_tokens

BUDGET_TOKENS = 1024


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory):
    report = build_sample(tmp_path_factory.mktemp("demo") / "sidecar")
    with Sidecar.open(report.path) as opened:
        yield opened


@pytest.fixture(scope="module")
def comparisons(sidecar):
    return [
        compare(sidecar, question.question, answering=question.answering, budget_tokens=BUDGET_TOKENS)
        for question in sample_questions()
    ]


@pytest.fixture
def printed(capsys):
    def run(*arguments):
        capsys.readouterr()
        assert main(["demo", *arguments]) == 0
        return capsys.readouterr().out

    return run


def test_it_shows_several_questions_of_two_and_three_hops(printed):
    shown = re.findall(r"^── (q-\d+)", printed(), flags=re.MULTILINE)
    hops = {question.id: question.hops for question in sample_questions()}
    assert 3 <= len(shown) <= 5
    assert {hops[identifier] for identifier in shown} == {2, 3}


def test_all_shows_every_question(printed):
    shown = re.findall(r"^── (q-\d+)", printed("--all"), flags=re.MULTILINE)
    assert shown == [question.id for question in sample_questions()]


def test_no_line_is_wider_than_a_hundred_columns(printed):
    assert [line for line in printed("--all").splitlines() if cells(line) > 100] == []


def test_one_question_fits_one_screen(printed):
    screens = re.split(r"^── ", printed("--all"), flags=re.MULTILINE)[1:]
    assert max(len(screen.splitlines()) for screen in screens) <= 44


def test_the_totals_are_those_of_the_library_and_of_bm25(printed, comparisons):
    told = re.search(r"All (\d+) questions, 1024 tokens each: .* for (\d+) by chains, for (\d+) by BM25", printed())
    counted = totals(comparisons)
    assert [int(number) for number in told.groups()] == [counted.questions, counted.chains, counted.words]


def test_chains_pack_the_answer_more_often_than_bm25(comparisons):
    counted = totals(comparisons)
    assert counted.chains > counted.words


def test_both_ways_keep_the_budget(comparisons):
    for comparison in comparisons:
        assert comparison.by_chains.selection.tokens <= BUDGET_TOKENS
        assert comparison.words_tokens == estimate_tokens(packed_text(comparison.packed_by_words)) <= BUDGET_TOKENS


def test_bm25_packs_everything_that_still_fits(comparisons):
    for comparison in comparisons:
        packed = list(comparison.packed_by_words)
        left = [chunk for chunk in comparison.by_words if chunk not in packed]
        assert all(estimate_tokens(packed_text([*packed, chunk])) > BUDGET_TOKENS for chunk in left)


def test_the_screen_says_where_each_way_has_the_answer(sidecar, comparisons):
    terminal = Terminal(_not_a_terminal())
    for question, comparison in zip(sample_questions(), comparisons, strict=True):
        screen = "\n".join(question_lines(comparison, question, sidecar, terminal))
        for identifier, rank in zip(comparison.answering, comparison.words_ranks(), strict=True):
            cited = {item.chunk.id: item.citation for item in comparison.by_chains.selection.chunks}
            place = f"packed as [{cited[identifier]}]" if identifier in cited else "not packed"
            assert f"{identifier}: by chains {place}; by BM25" in screen
            assert rank is None or f"rank {rank} of" in screen


def test_the_shown_result_is_that_of_a_plain_call(sidecar, comparisons):
    question = sample_questions()[0].question
    assert comparisons[0].by_chains == retrieve_evidence(question, sidecar=sidecar, budget_tokens=BUDGET_TOKENS, k=16)


def test_own_questions_are_answered_and_a_kept_sidecar_stays(printed, tmp_path):
    screen = printed("--question", "Who leads Lyrantis?", "--keep", str(tmp_path / "kept"))
    assert "Who leads Lyrantis?" in screen
    assert main(["verify", str(tmp_path / "kept")]) == 0


def test_the_temporary_sidecar_is_removed(printed, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    printed("--question", "Who leads Lyrantis?")
    assert list(tmp_path.iterdir()) == []


def test_the_sample_s_own_key_is_consistent(sidecar):
    for question in sample_questions():
        assert None not in sidecar.chunk_numbers(question.gold)
        assert set(question.answering) <= set(question.gold)


def _not_a_terminal():
    import io

    return io.StringIO()
