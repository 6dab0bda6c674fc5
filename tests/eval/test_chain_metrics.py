"""Chain metrics against values worked out by hand."""

from __future__ import annotations

from eval.data.records import Question
from eval.metrics.chains import FoundChain, chain_metrics, is_subsequence, reasoning_branches


def _question(**facts: object) -> Question:
    base = {"id": "q", "text": "?", "gold_ids": ("a", "b"), "row": 0}
    return Question(**{**base, **facts})  # type: ignore[arg-type]


def test_subsequence_keeps_order_and_allows_gaps() -> None:
    assert is_subsequence(["a", "c"], ["a", "b", "c"])
    assert not is_subsequence(["c", "a"], ["a", "b", "c"])
    assert is_subsequence([], [])


def test_decomposition_gives_one_branch_in_its_order() -> None:
    assert reasoning_branches(_question(hops=("b", "a")), {}) == (("b", "a"),)


def test_evidences_of_a_comparison_give_one_branch_each() -> None:
    question = _question(
        gold_ids=("f1", "f2", "d1", "d2"),
        evidences=(
            ("Film One", "director", "Ann"),
            ("Film Two", "director", "Bob"),
            ("Ann", "born", "1900"),
            ("Bob", "born", "1910"),
        ),
    )
    titles = {"f1": "Film One", "f2": "Film Two", "d1": "Ann", "d2": "Bob"}
    assert reasoning_branches(question, titles) == (("f1", "d1"), ("f2", "d2"))


def test_order_is_unknown_without_labels() -> None:
    assert reasoning_branches(_question(), {"a": "A", "b": "B"}) == ()


def test_best_chain_is_scored_for_start_cover_and_order() -> None:
    chains = [
        FoundChain(anchor_passages=("a",), witnesses=("a", "x")),
        FoundChain(anchor_passages=("z",), witnesses=("a", "b")),
    ]
    scores = chain_metrics(chains, gold=["a", "b"], starts=["a"], branches=[("a", "b")])
    assert scores == {"chain_cover": 0.5, "chain_cover@5": 1.0, "chain_start": 1.0, "chain_in_order": 1.0}


def test_no_chain_scores_nought_and_unsupported_metrics_are_absent() -> None:
    assert chain_metrics([], gold=["a"], starts=[], branches=[]) == {"chain_cover": 0.0, "chain_cover@5": 0.0}
