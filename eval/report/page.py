"""One self-contained HTML page: plots, sortable tables, and every question with its losses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from eval.ledger import LOSSES
from eval.report.labels import is_library, ordered
from eval.report.plots import cost_plot, quality_plot, size_plot, token_plot
from eval.report.tables import (
    ablation_table,
    breakdown_table,
    group_table,
    latency_table,
    loss_table,
    metric_table,
    versus_table,
)

__all__ = ["render_page"]

LEAST_SPAN = 5.0
"""Largest over smallest corpus from which latency against size is drawn."""

_HERE = Path(__file__).parent


def render_page(
    results: Mapping[str, Any],
    details: Mapping[str, Any] | None = None,
    *,
    sizes: Mapping[str, Sequence[tuple[float, float]]] | None = None,
) -> str:
    """Return the page; it loads nothing from anywhere.

    Args:
        results: a results file.
        details: its per-question rows; without them the page has no questions.
        sizes: per name, (passages or entities, median ms), for the plot of latency against size; without them
            the sets themselves are the sizes.
    """
    sections = [_head(results), *_plots(results, sizes or _sizes_of(results))]
    sections += [_set_section(results, name) for name in results["metrics"]]
    sections.append(_questions(details))
    style, script = (_HERE / "page.css").read_text("utf-8"), (_HERE / "page.js").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<title>Evaluation of latence-retrieval</title><link rel="icon" href="data:,">'
        f"<style>{style}</style></head>"
        f"<body>{''.join(sections)}<script>{script}</script></body></html>\n"
    )


def _head(results: Mapping[str, Any]) -> str:
    machine = results["machine"]
    commit = (results.get("commit") or "unknown")[:10] + (" with local changes" if results.get("dirty") else "")
    sets = "".join(
        f"<li>{escape(name)}: {facts['questions_asked']:,} questions over {facts['passages']:,} passages"
        f"{''.join('; ' + escape(note) for note in facts['notes'])}</li>"
        for name, facts in results["sets"].items()
    )
    skipped = "".join(
        f"<li>{escape(name)}: {escape(system)} was skipped: {escape(reason)}</li>"
        for name, by_system in results.get("skipped", {}).items()
        for system, reason in by_system.items()
    )
    links = "".join(f'<a href="#{escape(name)}">{escape(name)}</a>' for name in results["metrics"])
    return (
        f"<h1>Evaluation of latence-retrieval</h1>"
        f'<p class="soft">Commit {escape(commit)}, {escape(results["created"])}, '
        f"{escape(machine['processor'])}, "
        f"Python {escape(machine['python'])}, seed {results['config']['seed']}.</p>"
        f'<ul>{sets}{skipped}</ul><nav>{links}<a href="#explore">questions</a></nav>'
    )


def _plots(results: Mapping[str, Any], sizes: Mapping[str, Sequence[tuple[float, float]]]) -> list[str]:
    sets = list(results["metrics"])
    tokens = "".join(token_plot(results, name).render() for name in sets)
    costs = "".join(cost_plot(results, name).render() for name in sets)
    note = "Bars are 95 % bootstrap intervals over questions."
    quality = quality_plot(results).render()
    parts = [
        f'<h2>Recall at 5</h2><p class="soft">{note}</p><div class="scroll">{quality}</div>',
        f'<h2>Whole gold set within a token budget</h2><div class="plots">{tokens}</div>',
        f'<h2>Recall at 5 against processor milliseconds</h2><div class="plots">{costs}</div>',
    ]
    if any(_spans_sizes(found) for found in sizes.values()):
        parts.append(f'<h2>Latency against corpus size</h2><div class="plots">{size_plot(sizes).render()}</div>')
    return parts


def _spans_sizes(points: Sequence[tuple[float, float]]) -> bool:
    """Say whether the sizes differ enough to show how latency grows."""
    sizes = [size for size, _ in points]
    return bool(sizes) and max(sizes) >= LEAST_SPAN * min(sizes)


def _sizes_of(results: Mapping[str, Any]) -> dict[str, list[tuple[float, float]]]:
    found: dict[str, list[tuple[float, float]]] = {}
    for set_name, by_system in results["latency"].items():
        for system, figures in by_system.items():
            if figures["cpu_ms"]["p50"] > 0.0:
                place = (float(results["sets"][set_name]["passages"]), float(figures["cpu_ms"]["p50"]))
                found.setdefault(system, []).append(place)
    return found


def _set_section(results: Mapping[str, Any], name: str) -> str:
    parts = [f'<h2 id="{escape(name)}">{escape(name)}</h2>', metric_table(results, name)]
    for heading, body in (
        ("Against dense, paired: difference, 95 % interval, permutation test", versus_table(results, name)),
        ("Recall at 5 by kind of question", breakdown_table(results, name)),
        ("Recall at 5 by kind of question, against dense", group_table(results, name)),
        ("Milliseconds and work", latency_table(results, name)),
        ("Where gold passages were lost", loss_table(results, name, LOSSES)),
        ("What leaving a part out does to tier 1, paired", ablation_table(results, name)),
    ):
        if body:
            parts.append(f"<h3>{heading}</h3>{body}")
    return "".join(parts)


def _questions(details: Mapping[str, Any] | None) -> str:
    if not details or not details.get("sets"):
        words = "The per-question rows are not beside the results."
        return f'<h2 id="explore">Questions</h2><p class="soft">{words}</p>'
    names = ordered(dict.fromkeys(name for found in details["sets"].values() for name in found["systems"]))
    own = [name for name in names if is_library(name)]
    sets = {
        set_name: {
            **found,
            "systems": {
                name: [_slim(row) for row in found["systems"][name]] for name in names if name in found["systems"]
            },
        }
        for set_name, found in details["sets"].items()
        if found["systems"]
    }
    payload = {"sets": sets, "losses": list(LOSSES), "first": own[-1] if own else None}
    packed = json.dumps(payload, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    boxes = "".join(f'<label>{word}<select id="{word}"></select></label>' for word in ("set", "system", "type"))
    states = "".join(
        f'<option value="{value}">{words}</option>'
        for value, words in (
            ("", "all"),
            ("missed", "some gold missed at 5"),
            ("whole", "whole gold set at 5"),
        )
    )
    return (
        '<h2 id="explore">Questions</h2><p class="soft">Open a question to see its anchors, its chains, and '
        "where each gold passage was lost.</p>"
        f'<div class="controls">{boxes}<label>outcome<select id="state">{states}</select></label>'
        '<label>words<input id="text" type="search"></label><span id="counted" class="soft"></span></div>'
        '<div id="losses"></div><div id="questions"></div>'
        '<button id="more" type="button" hidden>Show more</button>'
        f'<script type="application/json" id="question-data">{packed}</script>'
    )


def _slim(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page's script reads of a row; the metrics stand in the tables above."""
    kept = {key: value for key, value in row.items() if key not in ("metrics", "ms", "id")}
    return {**kept, "whole": row["metrics"].get("all_gold@5") == 1.0}
