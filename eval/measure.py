"""One system on one set: every answer, its metrics and its milliseconds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eval.config import EvalConfig
from eval.data.records import EvalSet, Question
from eval.errors import HarnessError, SystemUnavailable
from eval.ledger import add_losses
from eval.metrics.question import question_metrics
from eval.progress import track
from eval.stats.aggregate import breakdown, intervals, latency, means
from eval.systems.base import Answer, Bench, System

__all__ = ["Measurement", "measure"]

_MAX_ERRORS = 20
"""Errors kept in a results file; more of them say nothing new."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a results file holds of one system on one set."""

    metrics: dict[str, float]
    intervals: dict[str, list[float]]
    breakdown: dict[str, dict[str, float]]
    latency: dict[str, Any]
    build: dict[str, float]
    errors: list[str]
    rows: list[dict[str, Any]]

    def as_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {key: getattr(self, key) for key in self.__dataclass_fields__}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Measurement:
        """Read what `as_json` gave."""
        return cls(**{key: value[key] for key in cls.__dataclass_fields__})


def measure(system: System, bench: Bench, questions: Sequence[Question], *, costs: Mapping[str, int]) -> Measurement:
    """Ask the system every question.

    A question on which it raises counts as an empty ranking, and the error is kept.

    Raises:
        SystemUnavailable: it cannot run here, or it raised on every question.
    """
    build = dict(_prepared(system, bench))
    errors: list[str] = []
    try:
        for question in questions[: bench.config.warmup_questions]:
            _ask(system, question, [])
        label = f"{bench.data.name} {system.name}"
        answers = [_ask(system, question, errors) for question in track(questions, label=label)]
    finally:
        system.close()
    if errors and len(errors) == len(questions):
        raise SystemUnavailable(system.name, f"it raised on every question, first: {errors[0]}")
    return _summarise(answers, questions, bench, build=build, errors=errors, costs=costs)


def _prepared(system: System, bench: Bench) -> Mapping[str, float]:
    try:
        return system.prepare(bench)
    except HarnessError:
        raise
    except Exception as error:
        raise SystemUnavailable(system.name, f"it cannot be set up: {type(error).__name__}: {error}") from error


def _ask(system: System, question: Question, errors: list[str]) -> Answer:
    try:
        return system.answer(question)
    except SystemUnavailable:
        raise
    except Exception as error:
        errors.append(f"{question.id}: {type(error).__name__}: {error}")
        return Answer(ranking=(), elapsed_ms=0.0)


def _summarise(
    answers: Sequence[Answer],
    questions: Sequence[Question],
    bench: Bench,
    *,
    build: dict[str, float],
    errors: list[str],
    costs: Mapping[str, int],
) -> Measurement:
    config: EvalConfig = bench.config
    data: EvalSet = bench.data
    scored = [
        question_metrics(answer, question, data, config=config, costs=costs)
        for answer, question in zip(answers, questions, strict=True)
    ]
    with_interval = [m for m in scored[0] if m.startswith(("recall@", "all_gold@", "evidence@", "ndcg@", "mrr"))]
    rows = [
        _row(answer, question, metrics, config)
        for answer, question, metrics in zip(answers, questions, scored, strict=True)
    ]
    add_losses(rows, bench, questions)
    return Measurement(
        metrics=means(scored),
        intervals=intervals(scored, with_interval, config=config),
        breakdown=breakdown(scored, questions),
        latency=latency(
            [answer.elapsed_ms for answer in answers],
            [answer.cpu_ms for answer in answers],
            [answer.stages_ms for answer in answers],
            [answer.work for answer in answers],
        ),
        build={key: round(float(value), 4) for key, value in build.items()},
        errors=[f"{len(errors)} of {len(questions)} questions failed", *errors[:_MAX_ERRORS]] if errors else [],
        rows=rows,
    )


def _row(answer: Answer, question: Question, metrics: Mapping[str, float], config: EvalConfig) -> dict[str, Any]:
    """Return what the report and `compare` need of one answer."""
    deep = max(config.cutoffs)
    ranks = {item: rank for rank, item in enumerate(answer.ranking, start=1)}
    row: dict[str, Any] = {
        "id": question.id,
        "metrics": {metric: round(value, 5) for metric, value in metrics.items()},
        "top": list(answer.ranking[:deep]),
        "ranks": {item: ranks.get(item) for item in question.gold_ids},
        "ms": round(answer.elapsed_ms, 3),
    }
    if answer.selections is not None:
        row["selected"] = list(answer.selections.get(config.timed_budget, ()))
    if answer.anchors is not None:
        row["anchors"] = [
            {
                "name": a.name,
                "entity": a.entity,
                "start": a.start,
                "end": a.end,
                "tier": a.tier,
                "weight": round(a.weight, 4),
                "passages": list(a.passage_ids[:3]),
            }
            for a in answer.anchors
        ]
    if answer.chains:
        row["chains"] = [
            {"labels": list(chain.labels), "witnesses": list(chain.witnesses)} for chain in answer.chains[:3]
        ]
    if answer.reached is not None:
        row["reached"] = {item: round(answer.reached[item], 6) for item in question.gold_ids if item in answer.reached}
    if answer.notes:
        row["notes"] = list(answer.notes)
    return row
