"""What each command does once its arguments are parsed; heavy imports happen here."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from eval.config import default_cache_dir, default_data_dir
from eval.errors import HarnessError
from eval.progress import say

if TYPE_CHECKING:
    from eval.run import RunRequest

__all__ = [
    "ablate_command",
    "compare_command",
    "fit_command",
    "prepare_command",
    "report_command",
    "run_command",
    "systems_command",
]


def _request(parsed: argparse.Namespace, *, sets: list[str], systems: list[str]) -> RunRequest:
    from eval.run import RunRequest

    return RunRequest(
        data_dir=parsed.data or default_data_dir(),
        sets=sets,
        systems=systems,
        cache_dir=parsed.cache or default_cache_dir(),
        limit=parsed.limit,
        fresh=parsed.fresh,
        gliner2=parsed.gliner2,
        vectors_dir=parsed.vectors,
        linker=parsed.linker,
    )


def run_command(parsed: argparse.Namespace) -> int:
    """Measure systems on sets and write a results file."""
    from eval.run import run
    from eval.systems.registry import default_systems

    request = _request(parsed, sets=parsed.sets, systems=parsed.systems or default_systems())
    if parsed.quick:
        request.config = request.config.quick()
    run(request, parsed.out)
    say(f"wrote {parsed.out}")
    return 0


def systems_command(_: argparse.Namespace) -> int:
    """Print what `--systems` understands."""
    from eval.systems.registry import known_systems

    for name, words in known_systems().items():
        print(f"{name:<24} {words}")
    return 0


def compare_command(parsed: argparse.Namespace) -> int:
    """Compare two results files."""
    from eval.compare import compare_files, comparison_lines

    for line in comparison_lines(compare_files(parsed.before, parsed.after, systems=parsed.systems)):
        print(line)
    return 0


def ablate_command(parsed: argparse.Namespace) -> int:
    """Change one setting at a time."""
    from eval.ablate import DEFAULT_CHANGES, ablate

    request = _request(parsed, sets=parsed.sets, systems=[parsed.system])
    ablate(request, system=parsed.system, changes=parsed.change or DEFAULT_CHANGES, out=parsed.out)
    return 0


def fit_command(parsed: argparse.Namespace) -> int:
    """Search settings on development halves and confirm them."""
    from eval.fit import DEFAULT_GRID, fit, parse_grid

    request = _request(parsed, sets=parsed.sets, systems=[parsed.system])
    grid = parse_grid(parsed.grid) if parsed.grid else DEFAULT_GRID
    result = fit(request, system=parsed.system, on=parsed.sets, confirm=parsed.confirm or [], grid=grid, out=parsed.out)
    print(f"objective {result['objective']:.4f} with {result['settings'] or 'the defaults'}")
    for name, halves in result["confirmation"].items():
        for half, metrics in halves.items():
            shown = "  ".join(
                f"{metric} {value['delta'] * 100:+.1f} [{value['low'] * 100:+.1f}, {value['high'] * 100:+.1f}]"
                for metric, value in metrics.items()
            )
            print(f"{name:<18} {half:<5} {shown}")
    return 0


def prepare_command(parsed: argparse.Namespace) -> int:
    """Compute vectors."""
    from eval.data import load_set
    from eval.data.vectors import VECTORS_FILE
    from eval.prepare import prepare

    folder: Path = parsed.out or (parsed.cache or default_cache_dir()) / "vectors"
    for name in parsed.sets:
        data = load_set(parsed.data or default_data_dir(), name)
        say(f"wrote {prepare(data, model=parsed.model, target=folder / f'{name}.{VECTORS_FILE}')}")
    return 0


def report_command(parsed: argparse.Namespace) -> int:
    """Write the README's block and plot and the HTML page, or say what is stale."""
    from eval.report.page import render_page
    from eval.report.readme import page_of, stale_parts, update_readme
    from eval.report.sizes import bench_sizes
    from eval.results import read_details, read_results

    readme: Path = parsed.readme or page_of(parsed.results)
    if parsed.check:
        stale = stale_parts(readme, parsed.results)
        if stale:
            names = ", ".join(path.name for path in stale)
            raise HarnessError(f"stale: {names}; run `python -m eval report {parsed.results}`")
        return 0
    if parsed.html is not None:
        sizes = bench_sizes(parsed.bench) if parsed.bench is not None else None
        results = read_results(parsed.results)
        if parsed.ablation is not None:
            found = read_results(parsed.ablation)
            results = {**results, **{key: found[key] for key in ("ablation", "ideas") if key in found}}
        page = render_page(results, read_details(parsed.results), sizes=sizes)
        parsed.html.parent.mkdir(parents=True, exist_ok=True)
        parsed.html.write_text(page, encoding="utf-8")
        say(f"wrote {parsed.html}")
    if parsed.html is None or parsed.readme is not None:
        for path in update_readme(readme, parsed.results):
            say(f"wrote {path}")
    return 0
