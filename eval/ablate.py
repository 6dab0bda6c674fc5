"""`ablate`: one system with one setting changed at a time, against itself unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.errors import HarnessError
from eval.progress import say
from eval.results import write_results
from eval.run import RunRequest, run_sets
from eval.stats.aggregate import compare_columns

__all__ = ["DEFAULT_CHANGES", "ablate", "ablation_lines"]

DEFAULT_CHANGES = (
    "walk.max_hops=1",
    "walk.mention_weight=0.3",
    "walk.overlap_sharpness=0",
    "walk.discovered_weight=1",
    "walk.first_stage_share=0",
    "walk.lexical_seed_share=0",
    "walk.max_degree=1000000",
    "entry.homonym_sharpness=0",
    "entry.discovered_weight=1",
    "entry.min_lower_case_probability=0",
    "translation.overlap_weight=0",
    "weights.translated=0",
    "weights.similarity=0",
    "weights.lexical=0",
    "activation_power=1",
    "coverage=0",
    "selection.completion_bonus=0",
    "selection.redundancy=0",
)
"""One change a part: each switches a part off, or sets it to what the simpler design would have."""

METRICS = ("recall@2", "recall@5", "recall@10", "all_gold@5", "evidence@1024")


def ablate(request: RunRequest, *, system: str, changes: Sequence[str], out: Path) -> dict[str, Any]:
    """Measure the system and every change of it; write a results file with `ablation` in it.

    Args:
        request: sets and configuration; its systems are replaced.
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
    summary, details = run_sets(request)
    summary["ablation"] = {}
    for set_name, found in details["sets"].items():
        rows = found["systems"]
        if system not in rows:
            raise HarnessError(f"{set_name}: {system} was not measured: {summary['skipped'].get(set_name)}")
        base = rows[system]
        summary["ablation"][set_name] = {
            change: {
                metric: compare_columns(
                    [row["metrics"][metric] for row in rows[f"{system}[{change}]"]],
                    [row["metrics"][metric] for row in base],
                    config=request.config,
                )
                for metric in METRICS
            }
            for change in changes
            if f"{system}[{change}]" in rows
        }
    write_results(out, summary)
    for line in ablation_lines(summary["ablation"]):
        say(line)
    return summary


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
