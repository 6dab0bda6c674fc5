"""The README's table: what the committed results say, in the form that GitHub renders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.report.labels import is_library, ordered

__all__ = ["BEGIN", "END", "readme_block"]

BEGIN = "<!-- eval:begin -->"
END = "<!-- eval:end -->"


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
    head = ["system"]
    for name in sets:
        head += [f"{name} R@2 / R@5 / R@10", "in 1,024 tokens", "ms"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for system in systems:
        cells = [f"**{system}**" if is_library(system) else system]
        for name in sets:
            cells += _cells(results, name, system)
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _cells(results: Mapping[str, Any], set_name: str, system: str) -> Sequence[str]:
    values = results["metrics"][set_name].get(system)
    if values is None:
        return ("skipped", "", "")
    recall = " / ".join(f"{values[f'recall@{k}'] * 100:.1f}" for k in (2, 5, 10))
    time = results["latency"][set_name][system]["ms"]["p50"]
    return (recall, f"{values['evidence@1024'] * 100:.1f}", f"{time:.1f}")


def _caption(results: Mapping[str, Any], source: str) -> str:
    counts = ", ".join(
        f"{name}: {facts['questions_asked']:,} questions over {facts['passages']:,} passages"
        for name, facts in results["sets"].items()
    )
    commit = (results.get("commit") or "unknown")[:10]
    named = f"[`{source}`]({source})" if source else "the results file"
    return (
        "Recall in percent; *in 1,024 tokens*: the share of questions whose whole gold set is in what is "
        "handed over (selected by the library, packed down the ranking for the rest); *ms*: median of one "
        f"query on one core of {results['machine']['processor']}, the given first stage not counted for the "
        f"library. {counts}. The peers are our own code in the style of their papers, without a language "
        f"model, on the same vectors and entity graph. Figures from {named}, measured at commit `{commit}`."
    )
