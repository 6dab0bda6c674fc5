"""Sortable HTML tables of the report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from eval.report.labels import METRIC_LABELS, NO_VALUE, is_library, ordered

__all__ = [
    "ablation_table",
    "breakdown_table",
    "group_table",
    "latency_table",
    "loss_table",
    "metric_table",
    "table",
    "versus_table",
]

Results = Mapping[str, Any]
Cell = tuple[str, float | str, str]
"""What is shown, what is sorted by, and a class."""


def table(headings: Sequence[str], rows: Iterable[tuple[str, Sequence[Cell]]]) -> str:
    """Return a table whose headings are buttons; each row has a class and its cells."""
    head = "".join(f'<th scope="col"><button type="button">{escape(word)}</button></th>' for word in headings)
    lines = []
    for name, cells in rows:
        shown = "".join(
            f'<td class="{kind}" data-value="{escape(str(value), quote=True)}">{escape(words)}</td>'
            for words, value, kind in cells
        )
        lines.append(f'<tr class="{name}">{shown}</tr>')
    return (
        f'<div class="scroll"><table class="sortable"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(lines)}</tbody></table></div>"
    )


def _row_class(system: str) -> str:
    return "library" if is_library(system) else ""


def metric_table(results: Results, set_name: str) -> str:
    """Return every metric of every system on one set, in percent, the best of each in bold."""
    values = results["metrics"][set_name]
    systems = ordered(values)
    metrics = [metric for metric in METRIC_LABELS if any(metric in values[name] for name in systems)]
    best = {metric: max(values[name].get(metric, 0.0) for name in systems) for metric in metrics}
    rows = []
    for name in systems:
        cells: list[Cell] = [(name, name, "")]
        for metric in metrics:
            value = values[name].get(metric)
            kind = "best" if value is not None and value == best[metric] else ""
            cells.append((NO_VALUE, "", "") if value is None else (f"{value * 100:.1f}", value, kind))
        rows.append((_row_class(name), cells))
    return table(["system", *(METRIC_LABELS[metric] for metric in metrics)], rows)


def versus_table(results: Results, set_name: str) -> str:
    """Return the paired differences against dense with their intervals and p-values; empty without dense."""
    found = results.get("versus_dense", {}).get(set_name, {})
    if not found:
        return ""
    metrics = list(next(iter(found.values())))
    rows = []
    for name in ordered(found):
        cells: list[Cell] = [(name, name, "")]
        cells += [_difference(found[name].get(metric)) for metric in metrics]
        rows.append((_row_class(name), cells))
    return table(["system", *(f"Δ {METRIC_LABELS.get(metric, metric)}" for metric in metrics)], rows)


def _difference(value: Mapping[str, float] | None) -> Cell:
    if value is None:
        return (NO_VALUE, "", "")
    words = (
        f"{value['delta'] * 100:+.1f} [{value['low'] * 100:+.1f}, {value['high'] * 100:+.1f}], "
        f"p {'< .001' if value['p'] < 0.001 else format(value['p'], '.3f')}"
    )
    kind = "up" if value["low"] > 0 else "down" if value["high"] < 0 else ""
    return (words, value["delta"], kind)


def group_table(results: Results, set_name: str, *, metric: str = "recall@5") -> str:
    """Return the paired difference against dense in each group of questions; empty without groups or dense."""
    found = results.get("versus_dense_by_group", {}).get(set_name, {})
    groups = list(next(iter(found.values()))) if found else []
    if not groups:
        return ""
    rows = []
    for name in ordered(found):
        cells: list[Cell] = [(name, name, "")]
        cells += [_difference(found[name].get(group, {}).get(metric)) for group in groups]
        rows.append((_row_class(name), cells))
    return table(["system", *(f"Δ {group}" for group in groups)], rows)


def breakdown_table(results: Results, set_name: str, *, metric: str = "recall@5") -> str:
    """Return one metric by group of questions; empty where the set has no groups."""
    found = results["breakdown"].get(set_name, {})
    groups = list(next(iter(found.values()))) if found else []
    if not groups:
        return ""
    sizes = {group: int(next(iter(found.values()))[group]["n"]) for group in groups}
    rows = []
    for name in ordered(found):
        cells: list[Cell] = [(name, name, "")]
        for group in groups:
            value = found[name].get(group, {}).get(metric)
            cells.append((NO_VALUE, "", "") if value is None else (f"{value * 100:.1f}", value, ""))
        rows.append((_row_class(name), cells))
    return table(["system", *(f"{group} (n = {sizes[group]})" for group in groups)], rows)


def latency_table(results: Results, set_name: str) -> str:
    """Return median and 95th percentile of the whole and of each stage, and mean work counters."""
    found = results["latency"][set_name]
    systems = ordered(found)
    stages = list(dict.fromkeys(stage for name in systems for stage in found[name]["stages_ms"]))
    counters = list(dict.fromkeys(counter for name in systems for counter in found[name]["work"]))
    rows = []
    for name in systems:
        own = found[name]
        cells: list[Cell] = [(name, name, "")]
        cells += [
            (f"{own[clock][key]:.2f}", own[clock][key], "") for clock in ("ms", "cpu_ms") for key in ("p50", "p95")
        ]
        for stage in stages:
            value = own["stages_ms"].get(stage, {}).get("p50")
            cells.append((NO_VALUE, "", "") if value is None else (f"{value:.2f}", value, ""))
        for counter in counters:
            count = own["work"].get(counter)
            cells.append((NO_VALUE, "", "") if count is None else (f"{count:,.1f}", count, ""))
        rows.append((_row_class(name), cells))
    heads = [
        "system",
        "ms p50",
        "ms p95",
        "cpu p50",
        "cpu p95",
        *(f"{stage} p50" for stage in stages),
        *counters,
    ]
    return table(heads, rows)


def loss_table(results: Results, set_name: str, losses: Sequence[str]) -> str:
    """Return how many gold passages each system lost where; empty where no system says."""
    found = results.get("losses", {}).get(set_name, {})
    if not found:
        return ""
    rows = []
    for name in ordered(found):
        cells: list[Cell] = [(name, name, "")]
        cells += [(str(found[name].get(loss, 0)), found[name].get(loss, 0), "") for loss in losses]
        rows.append((_row_class(name), cells))
    return table(["system", *losses], rows)


def ablation_table(results: Results, set_name: str) -> str:
    """Return what each change of `ablate` does on one set; empty where the results have no ablation."""
    found = results.get("ablation", {}).get(set_name, {})
    if not found:
        return ""
    metrics = list(next(iter(found.values())))
    rows = []
    for change, values in found.items():
        idea = results["ideas"].get(change, change)
        cells: list[Cell] = [(idea, idea, ""), (change, change, ""), *(_difference(values[name]) for name in metrics)]
        rows.append(("", cells))
    return table(["without", "setting", *(f"Δ {METRIC_LABELS.get(name, name)}" for name in metrics)], rows)
