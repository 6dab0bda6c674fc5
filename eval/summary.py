"""What a run tells of one set beside its metrics: differences against dense, losses, and rows a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.config import EvalConfig
from eval.data import EvalSet
from eval.data.records import Question
from eval.stats.aggregate import compare_columns
from eval.stats.breakdown import groups_of

__all__ = ["loss_counts", "set_details", "versus", "versus_by_group"]

_BASELINE = "dense"
_COMPARED_BY_GROUP = ("recall@2", "recall@5", "recall@10")
_COMPARED = ("recall@2", "recall@5", "recall@10", "all_gold@5", "evidence@1024")


def versus(rows: dict[str, list[dict[str, Any]]], config: EvalConfig) -> dict[str, Any]:
    if _BASELINE not in rows:
        return {}
    base = rows[_BASELINE]
    return {
        name: {
            metric: compare_columns(
                [row["metrics"][metric] for row in found],
                [row["metrics"][metric] for row in base],
                config=config,
            )
            for metric in _COMPARED
            if metric in found[0]["metrics"] and metric in base[0]["metrics"]
        }
        for name, found in rows.items()
        if name != _BASELINE
    }


def versus_by_group(
    rows: dict[str, list[dict[str, Any]]], questions: Sequence[Question], config: EvalConfig
) -> dict[str, Any]:
    """Compare recall with dense in each group of questions: no kind of question may pay for another's gain."""
    if _BASELINE not in rows:
        return {}
    return {
        name: {
            group: {
                metric: compare_columns(
                    [found[place]["metrics"][metric] for place in places],
                    [rows[_BASELINE][place]["metrics"][metric] for place in places],
                    config=config,
                )
                for metric in _COMPARED_BY_GROUP
            }
            for group, places in groups_of(questions).items()
        }
        for name, found in rows.items()
        if name != _BASELINE
    }


def loss_counts(rows: list[dict[str, Any]]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in rows:
        for loss in row.get("losses", {}).values():
            counts[loss] = counts.get(loss, 0) + 1
    return dict(sorted(counts.items()))


def set_details(
    data: EvalSet, questions: Sequence[Any], rows: dict[str, list[dict[str, Any]]], costs: dict[str, int]
) -> dict[str, Any]:
    shown = {item for found in rows.values() for row in found for item in row["top"]}
    shown |= {item for question in questions for item in question.gold_ids}
    return {
        "questions": [
            {
                "id": q.id,
                "text": q.text,
                "type": q.type,
                "hops": q.hop_count,
                "answer": q.answer,
                "gold": list(q.gold_ids),
                "source": q.source,
                "evidences": [list(t) for t in q.evidences],
            }
            for q in questions
        ],
        "titles": {item: data.passage_of[item].title for item in sorted(shown) if item in data.passage_of},
        "tokens": {item: costs[item] for item in sorted(shown) if item in costs},
        "systems": rows,
    }
