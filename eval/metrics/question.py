"""All metrics of one question: what one answer is worth, as a flat mapping."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval.config import EvalConfig
from eval.data.records import EvalSet, Question
from eval.metrics.all_gold import all_gold_at
from eval.metrics.anchors import anchor_scores
from eval.metrics.chains import chain_metrics, reasoning_branches
from eval.metrics.evidence_budget import evidence_within, pack
from eval.metrics.mrr import reciprocal_rank_at
from eval.metrics.ndcg import ndcg_at
from eval.metrics.r_precision import r_precision
from eval.metrics.recall import recall_at
from eval.metrics.selection_bound import selection_share
from eval.systems.base import Answer

__all__ = ["named_passages", "question_metrics", "ranking_metrics"]

RANK_CUT = 10
"""Depth of nDCG and MRR: a page of ten, as BEIR reports them."""


def ranking_metrics(ranking: Sequence[str], gold: Sequence[str], *, cutoffs: Sequence[int]) -> dict[str, float]:
    """Return recall and all-gold at each cutoff, nDCG@10, MRR@10 and R-precision."""
    scores = {f"recall@{k}": recall_at(ranking, gold, k=k) for k in cutoffs}
    scores |= {f"all_gold@{k}": all_gold_at(ranking, gold, k=k) for k in cutoffs}
    scores[f"ndcg@{RANK_CUT}"] = ndcg_at(ranking, gold, k=RANK_CUT)
    scores["mrr"] = reciprocal_rank_at(ranking, gold, k=RANK_CUT)
    scores["r_precision"] = r_precision(ranking, gold)
    return scores


def question_metrics(
    answer: Answer, question: Question, data: EvalSet, *, config: EvalConfig, costs: Mapping[str, int]
) -> dict[str, float]:
    """Return every metric that this answer and the set's labels support.

    Args:
        answer: of one system.
        question: that it answers.
        data: the set, for labels.
        config: cutoffs and budgets.
        costs: tokens of each passage, by the harness's counter.
    """
    gold = question.gold_ids
    scores = ranking_metrics(answer.ranking, gold, cutoffs=config.cutoffs)
    for budget in config.budgets:
        packed = pack(answer.ranking, budget=budget, costs=costs)
        selected = packed if answer.selections is None else answer.selections.get(budget, ())
        scores[f"evidence@{budget}"] = evidence_within(selected, gold, budget=budget, costs=costs)
        if answer.selections is not None:
            scores[f"packed@{budget}"] = evidence_within(packed, gold, budget=budget, costs=costs)
    bound = answer.bounds.get(config.timed_budget)
    share = None if bound is None else selection_share(*bound)
    if share is not None:
        scores["selection_share"] = share
    named = named_passages(question, data)
    if answer.anchors is not None and data.anchors is not None:
        found = anchor_scores([anchor.passage_ids for anchor in answer.anchors], named)
        if found is not None:
            scores |= {"anchor_p": found.precision, "anchor_r": found.recall, "anchor_f1": found.f1}
    if answer.chains is not None:
        titles = {item: data.passage_of[item].title for item in gold if item in data.passage_of}
        scores |= chain_metrics(answer.chains, gold=gold, starts=named, branches=reasoning_branches(question, titles))
    return scores


def named_passages(question: Question, data: EvalSet) -> tuple[str, ...]:
    """Return the gold passages that the question starts from: the labels, else the first hop."""
    if data.anchors is not None:
        return tuple(anchor.passage_id for anchor in data.anchors.get(question.id, ()))
    return question.hops[:1]
