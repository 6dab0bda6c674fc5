"""Putting the table and the plot into the README, and telling when they are stale."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from eval.errors import HarnessError
from eval.report.markdown import BEGIN, END, readme_block
from eval.report.plots import quality_plot
from eval.results import read_results

__all__ = ["stale_parts", "update_readme"]


def _plot_path(results_path: Path) -> Path:
    return results_path.with_name(f"{results_path.stem}.svg")


def _rendered(readme: Path, results_path: Path) -> tuple[str, str]:
    """Return the README's new text and the plot's."""
    results = read_results(results_path)
    text = readme.read_text(encoding="utf-8")
    before, found, rest = text.partition(BEGIN)
    _, closed, after = rest.partition(END)
    if not found or not closed:
        raise HarnessError(f"{readme}: has no lines {BEGIN} and {END}; put them where the table shall stand")
    relative = {
        path: Path(os.path.relpath(path, readme.parent)).as_posix() for path in (results_path, _plot_path(results_path))
    }
    block = readme_block(results, plot=relative[_plot_path(results_path)], source=relative[results_path])
    return before + block + after, quality_plot(results).render(standalone=True) + "\n"


def update_readme(readme: Path, results_path: Path) -> Sequence[Path]:
    """Write table and plot; return the files that changed.

    Raises:
        HarnessError: the README has no markers, or the results cannot be read.
    """
    changed = stale_parts(readme, results_path)
    text, plot = _rendered(readme, results_path)
    readme.write_text(text, encoding="utf-8")
    _plot_path(results_path).write_text(plot, encoding="utf-8")
    return changed


def stale_parts(readme: Path, results_path: Path) -> list[Path]:
    """Return the files that do not say what the results say; empty when all is fresh."""
    text, plot = _rendered(readme, results_path)
    place = _plot_path(results_path)
    stale = [readme] if readme.read_text(encoding="utf-8") != text else []
    if not place.is_file() or place.read_text(encoding="utf-8") != plot:
        stale.append(place)
    return stale
