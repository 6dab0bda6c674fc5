"""The four plots of the report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from eval.report.labels import METRIC_LABELS, SET_LABELS, colour_of, is_library, ordered
from eval.report.svg import Canvas, linear_scale, log_scale, log_ticks, spread

__all__ = ["cost_plot", "quality_plot", "size_plot", "token_plot"]

Results = Mapping[str, Any]

_PANEL = 250
_ROW = 22
_FOOT = 34


def _systems(results: Results, chosen: Sequence[str] | None = None) -> list[str]:
    found = {name: None for by_system in results["metrics"].values() for name in by_system}
    return [name for name in ordered(found) if chosen is None or name in chosen]


def _floor(values: Sequence[float]) -> float:
    """Return a round value under the least, so that the axis does not start at nought for no reason."""
    return max(0.0, math.floor((min(values) - 0.03) * 10) / 10) if values else 0.0


def quality_plot(results: Results, *, metric: str = "recall@5", chosen: Sequence[str] | None = None) -> Canvas:
    """Draw one metric per system with its interval, one panel per set."""
    systems, sets = _systems(results, chosen), list(results["metrics"])
    left = 24 + 7 * max(len(name) for name in systems)
    height = 40 + _ROW * len(systems) + _FOOT
    canvas = Canvas(left + _PANEL * len(sets) + 40, height, label=f"{metric} per system and set, with intervals")
    canvas.text((left - 14, 20), METRIC_LABELS.get(metric, metric), anchor="end", opacity=0.7)
    bottom = 36 + _ROW * len(systems)
    for row, name in enumerate(systems):
        weight = "600" if is_library(name) else "normal"
        canvas.text((left - 14, 50 + _ROW * row), name, anchor="end", weight=weight)
    for number, set_name in enumerate(sets):
        values = results["metrics"][set_name]
        spans = results["intervals"].get(set_name, {})
        start = left + number * _PANEL
        seen = [spans.get(name, {}).get(metric, [values[name][metric]])[0] for name in systems if name in values]
        low = _floor(seen)
        scale = linear_scale((low, 1.0), (start, start + _PANEL - 46))
        canvas.text((start, 20), SET_LABELS.get(set_name, set_name), weight="600")
        for tick in range(round(low * 10), 11, 2 if low < 0.5 else 1):
            place = scale(tick / 10)
            canvas.line((place, 30), (place, bottom), opacity=0.15)
            canvas.text((place, bottom + 16), str(tick * 10), anchor="middle", size=11, opacity=0.7)
        for row, name in enumerate(systems):
            if name in values:
                _dot_row(
                    canvas,
                    values[name][metric],
                    spans.get(name, {}).get(metric),
                    scale,
                    46 + _ROW * row,
                    colour=colour_of(name, systems),
                    label=f"{name}, {set_name}",
                )
    return canvas


def _dot_row(
    canvas: Canvas,
    value: float,
    span: Sequence[float] | None,
    scale: Any,
    height: float,
    *,
    colour: str,
    label: str,
) -> None:
    words = f"{label}: {value * 100:.1f}"
    if span is not None:
        canvas.line((scale(span[0]), height), (scale(span[1]), height), stroke=colour, width=3, opacity=0.45)
        words += f" ({span[0] * 100:.1f} to {span[1] * 100:.1f})"
    canvas.dot((scale(value), height), fill=colour, title=words)
    right = scale(max(value, span[1] if span is not None else value))
    canvas.text((right + 7, height + 4), f"{value * 100:.1f}", size=11)


def token_plot(results: Results, set_name: str) -> Canvas:
    """Draw the share of questions whose whole gold set fits, against the token budget."""
    budgets = [int(budget) for budget in results["config"]["budgets"]]
    values = results["metrics"][set_name]
    systems = [name for name in _systems(results) if name in values]
    canvas = Canvas(520, 300, label=f"whole gold set within a token budget, {set_name}")
    across = log_scale((budgets[0], max(budgets[-1], budgets[0] * 2)), (48, 350))
    up = linear_scale((0.0, 1.0), (260, 30))
    canvas.text((48, 18), set_name, weight="600")
    _share_axis(canvas, up, right=350)
    for budget in budgets:
        canvas.text((across(budget), 278), f"{budget:,}", anchor="middle", size=11, opacity=0.7)
    canvas.text((199, 294), "tokens", anchor="middle", size=11, opacity=0.7)
    ends = [up(values[name].get(f"evidence@{budgets[-1]}", 0.0)) for name in systems]
    for name, place in zip(systems, spread(ends, gap=13), strict=True):
        colour = colour_of(name, systems)
        points = [(across(b), up(values[name][f"evidence@{b}"])) for b in budgets if f"evidence@{b}" in values[name]]
        canvas.path(points, stroke=colour, dash="" if is_library(name) else "5 4")
        for budget, point in zip(budgets, points, strict=False):
            share = values[name][f"evidence@{budget}"] * 100
            canvas.dot(point, fill=colour, title=f"{name}: {share:.1f} % within {budget:,} tokens", radius=3.5)
        canvas.text((360, place + 4), name, size=11, fill=colour, weight="600" if is_library(name) else "normal")
    return canvas


def _share_axis(canvas: Canvas, up: Any, *, right: float) -> None:
    for tick in range(0, 101, 20):
        canvas.line((48, up(tick / 100)), (right, up(tick / 100)), opacity=0.15)
        canvas.text((42, up(tick / 100) + 4), str(tick), anchor="end", size=11, opacity=0.7)


def cost_plot(results: Results, set_name: str, *, metric: str = "recall@5") -> Canvas:
    """Draw one metric against the median processor milliseconds of a query."""
    values, times = results["metrics"][set_name], results["latency"][set_name]
    systems = [name for name in _systems(results) if name in values and times[name]["cpu_ms"]["p50"] > 0.0]
    canvas = Canvas(520, 300, label=f"{metric} against milliseconds, {set_name}")
    canvas.text((48, 18), set_name, weight="600")
    if not systems:
        return canvas
    spent = [times[name]["cpu_ms"]["p50"] for name in systems]
    ticks = log_ticks(min(spent), max(spent))
    across = log_scale((ticks[0], ticks[-1]), (56, 400))
    low = _floor([values[name][metric] for name in systems])
    up = linear_scale((low, 1.0), (256, 34))
    for tick in range(round(low * 10), 11):
        canvas.line((48, up(tick / 10)), (410, up(tick / 10)), opacity=0.15)
        canvas.text((42, up(tick / 10) + 4), str(tick * 10), anchor="end", size=11, opacity=0.7)
    for value in ticks:
        canvas.line((across(value), 30), (across(value), 262), opacity=0.15)
        canvas.text((across(value), 278), f"{value:g}", anchor="middle", size=11, opacity=0.7)
    canvas.text((228, 294), "processor ms a query, median", anchor="middle", size=11, opacity=0.7)
    points = [(across(cost), up(values[name][metric])) for name, cost in zip(systems, spent, strict=True)]
    labels = spread([point[1] for point in points], gap=13)
    for name, point, place, cost in zip(systems, points, labels, spent, strict=True):
        colour = colour_of(name, systems)
        words = f"{name}: {values[name][metric] * 100:.1f} in {cost:.2f} ms"
        canvas.line((point[0] + 5, point[1]), (point[0] + 14, place), stroke=colour, opacity=0.5)
        canvas.dot(point, fill=colour, title=words)
        canvas.text(
            (point[0] + 17, place + 4),
            name,
            size=11,
            fill=colour,
            weight="600" if is_library(name) else "normal",
        )
    return canvas


def size_plot(points: Mapping[str, Sequence[tuple[float, float]]]) -> Canvas:
    """Draw median milliseconds against entities or passages, one line per name, both axes logarithmic."""
    drawn = {name: sorted(found) for name, found in points.items() if found}
    canvas = Canvas(620, 320, label="latency against corpus size")
    if not drawn:
        return canvas
    sizes = log_ticks(min(x for f in drawn.values() for x, _ in f), max(x for f in drawn.values() for x, _ in f))
    times = log_ticks(min(y for f in drawn.values() for _, y in f), max(y for f in drawn.values() for _, y in f))
    across, up = log_scale((sizes[0], sizes[-1]), (56, 420)), log_scale((times[0], times[-1]), (276, 24))
    for value in sizes:
        canvas.line((across(value), 20), (across(value), 282), opacity=0.15)
        canvas.text((across(value), 298), f"{value:,.0f}", anchor="middle", size=11, opacity=0.7)
    for value in times:
        canvas.line((48, up(value)), (430, up(value)), opacity=0.15)
        canvas.text((42, up(value) + 4), f"{value:g}", anchor="end", size=11, opacity=0.7)
    canvas.text((238, 314), "passages or entities; ms a query upwards", anchor="middle", size=11, opacity=0.7)
    names = ordered(drawn)
    places = spread([up(drawn[name][-1][1]) for name in names], gap=13)
    for name, place in zip(names, places, strict=True):
        colour = colour_of(name, names)
        canvas.path([(across(x), up(y)) for x, y in drawn[name]], stroke=colour)
        for x, y in drawn[name]:
            canvas.dot((across(x), up(y)), fill=colour, title=f"{name}: {y:.2f} ms at {x:,.0f}", radius=3.5)
        canvas.text((436, place + 4), name, size=11, fill=colour)
    return canvas
