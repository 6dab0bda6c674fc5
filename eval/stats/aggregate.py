"""From per-question values to the figures of a results file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.config import EvalConfig
from eval.data.records import Question
from eval.metrics.latency import percentile
from eval.stats.bootstrap import bootstrap_interval
from eval.stats.breakdown import groups_of
from eval.stats.permutation import permutation_p

__all__ = ["breakdown", "compare_columns", "intervals", "latency", "means"]

DIGITS = 6
Rows = Sequence[Mapping[str, float]]

_GROUP_METRICS = ("recall@", "all_gold@", "evidence@", "ndcg@")


def means(rows: Rows) -> dict[str, float]:
    """Return the mean of each metric over the questions that have it, in order of first appearance."""
    columns: dict[str, list[float]] = {}
    for row in rows:
        for metric, value in row.items():
            columns.setdefault(metric, []).append(value)
    return {metric: round(sum(values) / len(values), DIGITS) for metric, values in columns.items()}


def latency(elapsed: Sequence[float], cpu: Sequence[float], stages: Rows, work: Rows) -> dict[str, Any]:
    """Return percentiles of the whole and of each stage, and mean work counters."""
    by_stage: dict[str, list[float]] = {}
    for row in stages:
        for stage, value in row.items():
            by_stage.setdefault(stage, []).append(value)
    return {
        "ms": _percentiles(elapsed),
        "cpu_ms": _percentiles(cpu),
        "stages_ms": {stage: _percentiles(values) for stage, values in by_stage.items()},
        "work": means(work),
    }


def _percentiles(values: Sequence[float]) -> dict[str, float]:
    return {"p50": round(percentile(values, p=50), 4), "p95": round(percentile(values, p=95), 4)}


def intervals(rows: Rows, metrics: Sequence[str], *, config: EvalConfig) -> dict[str, list[float]]:
    """Return the bootstrap interval of each named metric that every question has."""
    found: dict[str, list[float]] = {}
    for metric in metrics:
        values = [row[metric] for row in rows if metric in row]
        if len(values) == len(rows) and values:
            low, high = bootstrap_interval(
                values, resamples=config.bootstrap_resamples, confidence=config.confidence, seed=config.seed
            )
            found[metric] = [round(low, DIGITS), round(high, DIGITS)]
    return found


def breakdown(rows: Rows, questions: Sequence[Question]) -> dict[str, dict[str, float]]:
    """Return the ranking and budget metrics of each group of questions, with its size `n`."""
    groups = groups_of(questions)
    table: dict[str, dict[str, float]] = {}
    for label, positions in groups.items():
        chosen = means([rows[position] for position in positions])
        kept = {metric: value for metric, value in chosen.items() if metric.startswith(_GROUP_METRICS)}
        table[label] = {"n": float(len(positions)), **kept}
    return table


def compare_columns(ours: Sequence[float], theirs: Sequence[float], *, config: EvalConfig) -> dict[str, float | int]:
    """Compare two systems' values of one metric on the same questions, ours minus theirs."""
    delta = [a - b for a, b in zip(ours, theirs, strict=True)]
    low, high = bootstrap_interval(
        delta, resamples=config.bootstrap_resamples, confidence=config.confidence, seed=config.seed
    )
    return {
        "delta": round(sum(delta) / len(delta), DIGITS),
        "low": round(low, DIGITS),
        "high": round(high, DIGITS),
        "p": round(permutation_p(delta, permutations=config.permutations, seed=config.seed), DIGITS),
        "better": sum(1 for value in delta if value > 0),
        "worse": sum(1 for value in delta if value < 0),
        "n": len(delta),
    }
