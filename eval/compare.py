"""`compare`: two results files, or two systems of one, question by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.config import EvalConfig
from eval.errors import HarnessError
from eval.results import read_details, read_results
from eval.stats.aggregate import compare_columns

__all__ = ["Pair", "compare_files", "comparison_lines", "pair_up"]

DEFAULT_METRICS = ("recall@2", "recall@5", "recall@10", "all_gold@5", "ndcg@10", "evidence@1024")
MOST_CHANGED = 10
"""Questions listed at each end."""

Pair = tuple[str, str]
"""A system of the first file and one of the second."""


def pair_up(before: Mapping[str, Any], after: Mapping[str, Any], chosen: Sequence[str] | None) -> list[Pair]:
    """Return the systems to compare: `a:b` pairs as chosen, or all that both files have.

    Raises:
        HarnessError: nothing is in both.
    """
    there = {name for by_system in before["metrics"].values() for name in by_system}
    here = {name for by_system in after["metrics"].values() for name in by_system}
    if chosen:
        pairs = [(item.split("=", 1)[0], item.split("=", 1)[-1]) for item in chosen]
    else:
        pairs = [(name, name) for name in sorted(there & here)]
    missing = [name for name, _ in pairs if name not in there] + [name for _, name in pairs if name not in here]
    if missing or not pairs:
        raise HarnessError(f"nothing to compare: {', '.join(missing) or 'no system is in both files'}")
    return pairs


def compare_files(
    before_path: Path,
    after_path: Path,
    *,
    systems: Sequence[str] | None = None,
    config: EvalConfig | None = None,
) -> dict[str, Any]:
    """Compare per-question values, after minus before, on the questions that both files asked.

    Raises:
        HarnessError: a file or its details are missing, or nothing is in both.
    """
    before, after = read_results(before_path), read_results(after_path)
    old, new = read_details(before_path), read_details(after_path)
    if old is None or new is None:
        lacking = before_path if old is None else after_path
        raise HarnessError(f"{lacking}: its details file is missing; paired tests need per-question rows")
    settings = config or EvalConfig()
    found: dict[str, Any] = {}
    for set_name in [name for name in before["metrics"] if name in after["metrics"]]:
        for a, b in pair_up(before, after, systems):
            theirs = old["sets"][set_name]["systems"].get(a)
            ours = new["sets"][set_name]["systems"].get(b)
            if theirs is None or ours is None:
                continue
            texts = {item["id"]: item["text"] for item in old["sets"][set_name]["questions"]}
            name = a if a == b else f"{a} → {b}"
            found.setdefault(set_name, {})[name] = _compare(theirs, ours, texts, settings)
    if not found:
        raise HarnessError("the files have no set with both systems in common")
    return found


def _compare(
    theirs: Sequence[Mapping[str, Any]],
    ours: Sequence[Mapping[str, Any]],
    texts: Mapping[str, str],
    config: EvalConfig,
) -> dict[str, Any]:
    old = {row["id"]: row["metrics"] for row in theirs}
    both = [(old[row["id"]], row["metrics"], row["id"]) for row in ours if row["id"] in old]
    if not both:
        raise HarnessError("the files asked different questions")
    metrics = {
        metric: compare_columns([b[metric] for _, b, _ in both], [a[metric] for a, _, _ in both], config=config)
        for metric in DEFAULT_METRICS
        if all(metric in a and metric in b for a, b, _ in both)
    }
    deltas = sorted(
        (
            {"id": name, "question": texts.get(name, ""), "delta": round(b["recall@5"] - a["recall@5"], 4)}
            for a, b, name in both
        ),
        key=lambda row: (row["delta"], row["id"]),
    )
    return {
        "metrics": metrics,
        "worse": [row for row in deltas if row["delta"] < 0][:MOST_CHANGED],
        "better": [row for row in reversed(deltas) if row["delta"] > 0][:MOST_CHANGED],
    }


def comparison_lines(found: Mapping[str, Any]) -> list[str]:
    """Return the comparison as lines for a terminal."""
    lines = []
    for set_name, by_system in found.items():
        for name, result in by_system.items():
            lines.append(f"{set_name}  {name}")
            for metric, value in result["metrics"].items():
                lines.append(
                    f"  {metric:<14} {value['delta'] * 100:+6.2f}  [{value['low'] * 100:+.2f}, "
                    f"{value['high'] * 100:+.2f}]  p {value['p']:.4f}  "
                    f"{value['better']} better, {value['worse']} worse of {value['n']}"
                )
            for word in ("worse", "better"):
                lines += [f"  {word}: {row['delta'] * 100:+6.1f}  {row['question']}" for row in result[word]]
    return lines
