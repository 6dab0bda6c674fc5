"""Ranking and budget metrics against values worked out by hand, and against ir-measures."""

from __future__ import annotations

import math
import random

import pytest

from eval.metrics.all_gold import all_gold_at
from eval.metrics.anchors import anchor_scores
from eval.metrics.evidence_budget import evidence_within, pack
from eval.metrics.latency import percentile
from eval.metrics.mrr import reciprocal_rank_at
from eval.metrics.ndcg import ndcg_at
from eval.metrics.question import ranking_metrics
from eval.metrics.r_precision import r_precision
from eval.metrics.recall import recall_at
from eval.metrics.selection_bound import selection_share
from eval.metrics.tokens import count_tokens

RANKING = ["x", "g1", "y", "g2", "z"]
GOLD = ["g1", "g2", "g3"]


def test_recall_counts_the_gold_passages_of_the_first_k() -> None:
    assert recall_at(RANKING, GOLD, k=1) == 0.0
    assert recall_at(RANKING, GOLD, k=2) == pytest.approx(1 / 3)
    assert recall_at(RANKING, GOLD, k=100) == pytest.approx(2 / 3)
    assert recall_at([], GOLD, k=5) == 0.0


def test_all_gold_needs_every_gold_passage() -> None:
    assert all_gold_at(RANKING, GOLD, k=5) == 0.0
    assert all_gold_at(RANKING, ["g1", "g2"], k=4) == 1.0
    assert all_gold_at(RANKING, ["g1", "g2"], k=3) == 0.0


def test_ndcg_discounts_by_the_logarithm_of_the_rank() -> None:
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert ndcg_at(RANKING, GOLD, k=10) == pytest.approx(gain / ideal)
    assert ndcg_at(["g1", "g2", "g3"], GOLD, k=10) == 1.0
    assert ndcg_at(["g1"], GOLD, k=1) == 1.0


def test_reciprocal_rank_is_of_the_first_gold_passage_within_k() -> None:
    assert reciprocal_rank_at(RANKING, GOLD, k=10) == 0.5
    assert reciprocal_rank_at(RANKING, ["g2"], k=10) == 0.25
    assert reciprocal_rank_at(RANKING, ["g2"], k=3) == 0.0


def test_r_precision_looks_at_as_many_passages_as_there_are_gold_ones() -> None:
    assert r_precision(RANKING, GOLD) == pytest.approx(1 / 3)
    assert r_precision(RANKING, ["g1", "g2"]) == 0.5


def test_ranking_metrics_equal_those_of_ir_measures() -> None:
    ir_measures = pytest.importorskip("ir_measures")
    from ir_measures import RR, R, Rprec, nDCG

    source = random.Random(3)
    qrels, run, own = [], [], []
    for number in range(40):
        ranking = [f"d{item:02d}" for item in source.sample(range(60), 30)]
        gold = [f"d{item:02d}" for item in source.sample(range(60), source.choice([1, 2, 3, 4]))]
        qrels += [ir_measures.Qrel(f"q{number}", item, 1) for item in gold]
        run += [ir_measures.ScoredDoc(f"q{number}", item, float(-rank)) for rank, item in enumerate(ranking)]
        own.append(ranking_metrics(ranking, gold, cutoffs=(2, 5, 10)))
    theirs = {
        "recall@2": R @ 2,
        "recall@5": R @ 5,
        "recall@10": R @ 10,
        "ndcg@10": nDCG @ 10,
        "mrr": RR @ 10,
        "r_precision": Rprec,
    }
    found = ir_measures.calc_aggregate(list(theirs.values()), qrels, run)
    for name, measure in theirs.items():
        assert sum(row[name] for row in own) / len(own) == pytest.approx(found[measure], abs=1e-9), name


def test_packing_takes_each_passage_that_still_fits() -> None:
    costs = {"a": 60, "b": 50, "c": 40}
    assert pack(["a", "b", "c"], budget=100, costs=costs) == ("a", "c")
    assert pack(["a"], budget=59, costs=costs) == ()


def test_a_selection_over_its_budget_counts_as_nothing() -> None:
    costs = {"a": 60, "b": 50}
    assert evidence_within(["a", "b"], ["a"], budget=110, costs=costs) == 1.0
    assert evidence_within(["a", "b"], ["a"], budget=109, costs=costs) == 0.0
    assert evidence_within(["a"], ["a", "b"], budget=500, costs=costs) == 0.0


def test_anchor_scores_leave_out_phrases_that_no_passage_is_about() -> None:
    scores = anchor_scores([["a"], ["z"], []], ["a", "b"])
    assert scores is not None
    assert (scores.precision, scores.recall, scores.f1) == (0.5, 0.5, 0.5)


def test_anchor_scores_are_absent_where_the_question_names_nothing() -> None:
    assert anchor_scores([["a"]], []) is None


def test_no_anchor_at_all_scores_nought() -> None:
    scores = anchor_scores([], ["a"])
    assert scores is not None
    assert (scores.precision, scores.recall, scores.f1) == (0.0, 0.0, 0.0)


def test_percentile_is_a_value_that_was_measured() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], p=50) == 2.0
    assert percentile([4.0, 1.0, 3.0, 2.0], p=95) == 4.0
    assert percentile([5.0], p=50) == 5.0


def test_selection_share_is_absent_where_nothing_could_be_selected() -> None:
    assert selection_share(1.5, 2.0) == 0.75
    assert selection_share(0.0, 0.0) is None


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("one two", 2), ("international", 3), ("a, b.", 4), ("北京", 1)])
def test_token_counter_splits_long_words_and_counts_marks(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens
