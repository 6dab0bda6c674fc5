"""`ablate`: one system with one setting changed at a time, against itself unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.config import EvalConfig
from eval.errors import HarnessError
from eval.halves import TEST, half_of
from eval.ideas import IDEAS, idea_of
from eval.progress import say
from eval.results import write_results
from eval.run import RunRequest, run_sets
from eval.stats.aggregate import compare_columns

__all__ = ["DEFAULT_CHANGES", "METRICS", "ablate", "ablation_lines"]

DEFAULT_CHANGES = tuple(idea.change for idea in IDEAS)
"""One change an idea: each switches it off, or sets it to what the simpler design would have."""

METRICS = ("recall@2", "recall@5", "recall@10", "all_gold@5", "evidence@1024")

_DROPPED = ("losses", "latency", "build", "breakdown", "versus_dense_by_group", "versus_dense", "intervals")
"""Parts of a run's summary that a search does not measure, or that say nothing here."""


def ablate(request: RunRequest, *, system: str, changes: Sequence[str], out: Path) -> dict[str, Any]:
    """Measure the system and every change of it; write a results file with `ablation` in it.

    Args:
        request: sets and configuration; its systems are replaced, and the library is asked once a question.
        system: a base without settings in brackets.
        changes: `path=value`, or several joined by `;`.
        out: the results file.

    Raises:
        HarnessError: the system has settings of its own, or could not be measured.
    """
    if "[" in system:
        raise HarnessError("name the system without settings; each change puts one in")
    names = [system, *(f"{system}[{change}]" for change in changes)]
    request.systems = names
    request.config = request.config.quick()
    summary, details = run_sets(request)
    ablation = {}
    for name, found in details["sets"].items():
        if system not in found["systems"]:
            raise HarnessError(f"{name}: {system} was not measured: {summary['skipped'].get(name)}")
        ablation[name] = _differences(found["systems"], system, changes, request.config)
    kept = {key: value for key, value in summary.items() if key not in _DROPPED}
    kept["metrics"] = {
        name: {system: {metric: by_system[system][metric] for metric in METRICS}}
        for name, by_system in summary["metrics"].items()
    }
    kept |= {"system": system, "ideas": {change: idea_of(change) for change in changes}, "ablation": ablation}
    write_results(out, kept)
    for line in ablation_lines(kept["ablation"]):
        say(line)
    return kept


def _differences(
    rows: Mapping[str, Sequence[Mapping[str, Any]]], system: str, changes: Sequence[str], config: EvalConfig
) -> dict[str, Any]:
    """Return the paired difference that each change makes on one set, over all questions and the test half."""
    found: dict[str, Any] = {}
    test = [place for place, row in enumerate(rows[system]) if half_of(row["id"]) == TEST]
    for change in changes:
        changed = rows.get(f"{system}[{change}]")
        if changed is None:
            continue
        found[change] = {}
        for metric in METRICS:
            ours = [float(row["metrics"][metric]) for row in changed]
            theirs = [float(row["metrics"][metric]) for row in rows[system]]
            halves = [ours[place] - theirs[place] for place in test]
            found[change][metric] = {
                **compare_columns(ours, theirs, config=config),
                "test_half": round(sum(halves) / max(1, len(halves)), 5),
            }
    return found


def ablation_lines(ablation: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
    """Return the differences as lines; a star marks an interval that excludes zero."""
    lines = []
    for set_name, by_change in ablation.items():
        lines.append(f"{set_name}: difference in points")
        for change, metrics in by_change.items():
            shown = "  ".join(f"{metric} {_points(value)}" for metric, value in metrics.items())
            lines.append(f"  {change:<40} {shown}")
    return lines


def _points(value: Mapping[str, float]) -> str:
    star = "*" if value["low"] > 0 or value["high"] < 0 else " "
    return f"{value['delta'] * 100:+5.1f}{star}"
