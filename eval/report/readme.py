"""Putting tables and the plot into README.md or eval/RESULTS.md, and telling when they are stale."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.config import PROJECT_ROOT
from eval.errors import HarnessError
from eval.report.blocks import RESULTS_PAGE, block_markers, has_block, results_block
from eval.report.markdown import BEGIN, END, readme_block
from eval.report.plots import quality_plot
from eval.results import read_results

__all__ = ["page_of", "stale_parts", "update_readme"]


def page_of(results_path: Path) -> Path:
    """Return the page that shows a results file: eval/RESULTS.md where it has a place for it, else the README."""
    return RESULTS_PAGE if has_block(RESULTS_PAGE, results_path.stem) else PROJECT_ROOT / "README.md"


def _rendered(page: Path, results_path: Path) -> Mapping[Path, str]:
    """Return the new text of the page, and of the plot that stands beside the README's table."""
    results = read_results(results_path)
    text = page.read_text(encoding="utf-8")
    source = _link(page, results_path)
    if has_block(page, results_path.stem):
        block = results_block(results, name=results_path.stem, source=source)
        return {page: _with_block(page, text, block, *block_markers(results_path.stem))}
    plot_path = results_path.with_name(f"{results_path.stem}.svg")
    block = readme_block(results, plot=_link(page, plot_path), source=source)
    return {
        page: _with_block(page, text, block, BEGIN, END),
        plot_path: quality_plot(results).render(standalone=True) + "\n",
    }


def _link(page: Path, target: Path) -> str:
    return Path(os.path.relpath(target, page.parent)).as_posix()


def _with_block(page: Path, text: str, block: str, begin: str, end: str) -> str:
    before, found, rest = text.partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise HarnessError(f"{page}: has no lines {begin} and {end}; put them where the table shall stand")
    return before + block + after


def update_readme(page: Path, results_path: Path) -> Sequence[Path]:
    """Write table and plot; return the files that changed.

    Raises:
        HarnessError: the page has no markers, or the results cannot be read.
    """
    changed = stale_parts(page, results_path)
    for path, text in _rendered(page, results_path).items():
        path.write_text(text, encoding="utf-8")
    return changed


def stale_parts(page: Path, results_path: Path) -> list[Path]:
    """Return the files that do not say what the results say; empty when all is fresh."""
    return [
        path
        for path, text in _rendered(page, results_path).items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
