from __future__ import annotations

import io
from itertools import pairwise

import pytest

from latence_retrieval import Sidecar, retrieve_evidence
from latence_retrieval.cli.evidence_view import EvidenceView
from latence_retrieval.cli.terminal import Terminal, cells


@pytest.fixture
def view(published):
    with Sidecar.open(published) as sidecar:

        def of(question: str, **options: object) -> tuple[EvidenceView, object]:
            result = retrieve_evidence(question, sidecar=sidecar, **options)
            return EvidenceView(result, sidecar, Terminal(io.StringIO())), result

        yield of


def test_a_hop_is_quoted_by_the_sentence_that_names_its_target(view):
    shown, result = view("In which town are the seals of SB-118 made?")
    chain = next(chain for chain in result.chains if chain.hops[-1].chunk_id == "c-040")
    text = " ".join(" ".join(shown.chain_lines(chain)).split())
    assert "“The cause is a lip ring TN-4471-B that Étanchéité Marvaux had cured too briefly.”" in text
    assert "SB-118 concerns HP-32 units built" not in text


def test_the_last_passage_of_a_chain_is_quoted_whole(view):
    shown, result = view("In which town are the seals of SB-118 made?")
    chain = next(chain for chain in result.chains if chain.hops[-1].chunk_id == "c-040")
    text = " ".join(" ".join(shown.chain_lines(chain)).split())
    assert "beside the weir at Aubrelles. Its compound, MX-9, is mixed next door and rests for two nights." in text


def test_one_passage_that_witnesses_two_hops_is_quoted_once(view):
    shown, result = view("Which person took part in Project Kormoran and approved Recall R-07?")
    for chain in result.chains:
        quotes = [line for line in shown.chain_lines(chain) if line.lstrip().startswith("“")]
        assert all(left != right for left, right in pairwise(quotes))


def test_marks_stand_below_the_matched_words_on_every_line(view):
    question = (
        "Concerning " + "the long history of the plant " * 4 + "who audited Odlewnia Żurawie and who sells the AX-100?"
    )
    shown, result = view(question)
    lines = list(shown.question_lines())
    marked = ""
    for text, marks in pairwise(lines):
        if set(marks) == {" ", "^"}:
            marked += "".join(letter if at < len(marks) and marks[at] == "^" else " " for at, letter in enumerate(text))
    assert {anchor.form for anchor in result.anchors} <= {
        form for form in ("Odlewnia Żurawie", "AX-100") if form in marked
    }


def test_homonyms_that_were_passed_over_are_named(view):
    shown, _ = view("Who is Kessler?")
    assert any("passed over: " in line and "Isolde Kessler" in line for line in shown.question_lines())


def test_a_question_without_names_says_so(view):
    shown, _ = view("what is a warranty void from?")
    assert any("no anchor" in line for line in shown.question_lines())


def test_every_line_fits(view):
    shown, result = view(
        "Who chairs the parent company of the firm that bought the Kaltenried works?", budget_tokens=400
    )
    lines = [*shown.packed_lines(), *shown.degradation_lines(), *shown.question_lines()]
    for chain in result.chains:
        lines += shown.chain_lines(chain)
    assert max(cells(line) for line in lines) <= 100
