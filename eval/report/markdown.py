"""The README's table: what the committed results say, in the form that GitHub renders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.report.labels import NO_VALUE, SET_LABELS, is_library, ordered

__all__ = ["BEGIN", "END", "readme_block"]

BEGIN = "<!-- eval:begin -->"
END = "<!-- eval:end -->"

_RECALL = ("recall@2", "recall@5", "recall@10")


def readme_block(results: Mapping[str, Any], *, plot: str | None = None, source: str = "") -> str:
    """Return the block between the README's markers, markers included.

    Args:
        results: a results file.
        plot: path of the plot as the README must link it.
        source: path of the results file as the README must name it.
    """
    lines = [BEGIN, ""]
    if plot:
        lines += [f"![Recall at 5 per system and set, with 95 % intervals]({plot})", ""]
    lines += _table(results)
    lines += ["", _caption(results, source), "", END]
    return "\n".join(lines)


def _table(results: Mapping[str, Any]) -> list[str]:
    sets = list(results["metrics"])
    systems = ordered(dict.fromkeys(name for by_system in results["metrics"].values() for name in by_system))
    head = ["system", *(SET_LABELS.get(name, name) for name in sets), "whole gold set in 1,024 tokens", "ms"]
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    for system in systems:
        cells = [f"**{system}**" if is_library(system) else system]
        cells += [_joined(results, name, system, _RECALL) for name in sets]
        cells.append(" / ".join(_joined(results, name, system, ("evidence@1024",)) for name in sets))
        cells.append(" / ".join(_milliseconds(results, name, system) for name in sets))
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _joined(results: Mapping[str, Any], set_name: str, system: str, metrics: Sequence[str]) -> str:
    values = results["metrics"][set_name].get(system, {})
    return " / ".join(f"{values[metric] * 100:.1f}" if metric in values else NO_VALUE for metric in metrics)


def _milliseconds(results: Mapping[str, Any], set_name: str, system: str) -> str:
    found = results["latency"][set_name].get(system)
    return NO_VALUE if found is None else f"{found['cpu_ms']['p50']:.1f}"


def _caption(results: Mapping[str, Any], source: str) -> str:
    counts = ", ".join(
        f"{SET_LABELS.get(name, name)} {facts['questions_asked']:,} over {facts['passages']:,}"
        for name, facts in results["sets"].items()
    )
    commit = (results.get("commit") or "unknown")[:10]
    named = f"[`{source}`]({source})" if source else "the results file"
    return (
        "Recall at 2 / 5 / 10, in percent, per set; then, with the sets in the same order, the share of questions "
        "whose *whole* gold set is in what is handed over within 1,024 tokens (selected by the library, packed down "
        "the ranking for the others), and the median processor milliseconds of one query on one core of "
        f"{results['machine']['processor']}, the given first stage not counted for the library. Questions over "
        f"passages: {counts}. Vectors: all-MiniLM-L6-v2; no language model anywhere. The peers are our own code in "
        f"the style of their papers, on the same vectors and entity graph. Figures from {named}, measured at commit "
        f"`{commit}`; [how](eval/README.md)."
    )
