"""Tables of `eval/RESULTS.md`: one block a results file, between markers that name it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.config import PROJECT_ROOT
from eval.ideas import is_left_out
from eval.report.labels import NO_VALUE, SET_LABELS, ordered

__all__ = ["RESULTS_PAGE", "block_markers", "has_block", "results_block"]

RESULTS_PAGE = PROJECT_ROOT / "eval" / "RESULTS.md"

_RECALL = ("recall@2", "recall@5", "recall@10")
_BUDGETS = ("evidence@1024", "packed@1024")
_SHOWN = ("recall@2", "recall@5", "evidence@1024")

Results = Mapping[str, Any]


def block_markers(name: str) -> tuple[str, str]:
    """Return the lines between which the block of a results file stands; `name` is the file's without its ending."""
    return f"<!-- {name}:begin -->", f"<!-- {name}:end -->"


def has_block(page: Path, name: str) -> bool:
    """Say whether a page has a place for the block of this results file."""
    return page.is_file() and block_markers(name)[0] in page.read_text(encoding="utf-8")


def results_block(results: Results, *, name: str, source: str) -> str:
    """Return the block of a results file, markers included: what was changed, what was fitted, or what was measured.

    Args:
        results: a results file of `run`, `ablate` or `fit`.
        name: the file's name without its ending.
        source: its path as the page must link it.
    """
    begin, end = block_markers(name)
    if "ablation" in results:
        lines = [*_ablation(results), "", _caption(results, source)]
    elif "fits" in results:
        lines = [line for fit in results["fits"].values() for line in _fit(fit)]
        lines.append(_caption(next(iter(results["fits"].values())), source))
    else:
        lines = [*_systems(results), "", _caption(results, source)]
    return "\n".join([begin, "", *lines, "", end])


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _ablation(results: Results) -> list[str]:
    """Return one row an idea, with what it does on each set to recall at 2 and 5 and to the whole gold set in 1,024 tokens."""
    sets = list(results["ablation"])
    system = results["system"]
    word = "with" if all(map(is_left_out, results["ideas"])) else "without"
    heads = [word, "setting", *(f"{SET_LABELS.get(name, name)} R@2, R@5, in 1,024" for name in sets)]
    lines = [_row(heads), "|---|---|" + "---|" * len(sets)]
    base = [" / ".join(f"{results['metrics'][name][system][metric] * 100:.1f}" for metric in _SHOWN) for name in sets]
    lines.append(_row(["nothing", "", *base]))
    for change, idea in results["ideas"].items():
        cells = [
            "<br>".join(_change(found[metric]) for metric in _SHOWN)
            if (found := results["ablation"][name].get(change))
            else NO_VALUE
            for name in sets
        ]
        lines.append(_row([idea, f"`{change}`", *cells]))
    return lines


def _change(value: Mapping[str, float]) -> str:
    words = f"{_signed(value['delta'])} [{_signed(value['low'])}, {_signed(value['high'])}]"
    return f"**{words}**" if value["low"] > 0 or value["high"] < 0 else words


def _signed(value: float) -> str:
    return f"{value * 100 + 0.0:+.1f}".replace("-0.0", "0.0").replace("+0.0", "0.0")


def _fit(fit: Results) -> list[str]:
    """Return what one fit found, and how it holds on each half of each set."""
    names = " and ".join(SET_LABELS.get(name, name) for name in fit["fitted_on"])
    chosen = ", ".join(f"`{path}` = {value}" for path, value in fit["settings"].items()) or "the defaults"
    before, after = (f"{fit[key] * 100:.1f}" for key in ("objective_of_defaults", "objective"))
    tried = f"Objective there {before} before, {after} after, {len(fit['tried'])} settings tried."
    lines = [f"Fitted on the development half of {names}: {chosen}. {tried} Against the defaults:", ""]
    metrics = list(next(iter(next(iter(fit["confirmation"].values())).values())))
    lines += [_row(["set", "half", *(f"Δ {metric}" for metric in metrics)]), "|---|---|" + "---|" * len(metrics)]
    for name, halves in fit["confirmation"].items():
        for half, found in halves.items():
            cells = [_change(found[metric]) for metric in metrics]
            lines.append(_row([SET_LABELS.get(name, name), half, *cells]))
    return [*lines, ""]


def _systems(results: Results) -> list[str]:
    """Return one row a system: recall at 2, 5 and 10, and the whole gold set in 1,024 tokens, selected and packed."""
    sets = list(results["metrics"])
    systems = ordered(dict.fromkeys(name for by_system in results["metrics"].values() for name in by_system))
    heads = ["system"]
    heads += [
        f"{SET_LABELS.get(name, name)} {words}" for name in sets for words in ("R@2 / 5 / 10", "in 1,024 / packed")
    ]
    lines = [_row(heads), "|---" * len(heads) + "|"]
    for system in systems:
        cells = [f"`{system}`"]
        for name in sets:
            found = results["metrics"][name].get(system)
            for metrics in (_RECALL, _BUDGETS):
                shown = NO_VALUE
                if found is not None:
                    shown = " / ".join(
                        f"{found[metric] * 100:.1f}" if metric in found else NO_VALUE for metric in metrics
                    )
                cells.append(shown)
        lines.append(_row(cells))
    return lines


def _caption(results: Results, source: str) -> str:
    commit = (results.get("commit") or "unknown")[:10]
    named = any("@" in system for by_system in results.get("metrics", {}).values() for system in by_system)
    linker = "" if named else f", linker `{results.get('linker', 'catalogue')}`"
    return f"From [`{source}`]({source}), measured at commit `{commit}`{linker}."
