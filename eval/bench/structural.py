"""The structural path, stage by stage: sidecars opened for each call or kept open, LMDB and SQLite, small and large.

    python -m eval.bench.structural --sizes 10000,1000000 --work /tmp/bench --json bench.json

Cells are taken in turn, in rounds of a few questions, so that whatever else the machine does meets all of them alike
and each answers as a process does that answers one kind of call (adr/0050); ratios are what to read. Times are
processor time of the calling thread; the wall clock stands beside the total.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from eval.machine import pin_threads, provenance

pin_threads()

from eval.bench.bases import prepared  # noqa: E402
from eval.bench.pagerank import pagerank_ms  # noqa: E402
from eval.bench.synthetic import SyntheticBase  # noqa: E402
from eval.progress import say  # noqa: E402
from eval.stages import STAGES, timed_stages  # noqa: E402
from latence_retrieval.evidence import retrieve_evidence  # noqa: E402
from latence_retrieval.settings import Settings  # noqa: E402
from latence_retrieval.sidecar.read import Sidecar  # noqa: E402

__all__ = ["main", "measure"]

STRUCTURAL = Settings(lexical_candidates=0)
"""Without the snapshot's own BM25, which stands in for a caller's first stage and is no part of the structure."""

PATH = ("open", "entry", "open terms", "walk", "chains", "selection")
"""The stages of the structural path proper: no ranking signals, no telling in names, no checking of arguments."""

_ROUND = 10
_WARM_UP = 2 * _ROUND


def measure(paths: dict[tuple[int, str], Path], bases: dict[int, SyntheticBase], *, questions: int) -> dict[str, Any]:
    """Return times by cell, as "<entities> <backend> <kind of call>", and the gauge.

    Snapshots that stay open are measured last: a process has one mapping of an LMDB file, and calls that open it while
    another reader has it open share that.
    """
    asked = {size: base.questions(questions + _WARM_UP) for size, base in bases.items()}
    opened = [
        _Cell(f"{size} {backend} {kind}", path, asked[size], settings)
        for (size, backend), path in paths.items()
        for kind, settings in (("structural", STRUCTURAL), ("whole call", Settings()))
    ]
    gauges: list[float] = []
    cells = _timed(opened, gauges)
    with ExitStack() as stack:
        kept = [
            _Cell(f"{size} {backend} kept open", stack.enter_context(Sidecar.open(path)), asked[size], STRUCTURAL)
            for (size, backend), path in paths.items()
        ]
        cells |= _timed(kept, gauges)
    return {
        "cells": cells,
        "gauge_ms": {"median": _ms(statistics.median(gauges)), "fastest": _ms(min(gauges))},
    }


class _Cell(NamedTuple):
    name: str
    sidecar: Path | Sidecar
    questions: list[str]
    settings: Settings


def _timed(cells: list[_Cell], gauges: list[float]) -> dict[str, Any]:
    """Ask all cells in turn, round by round; return a summary of each by name."""
    samples: dict[str, list[dict[str, float]]] = {cell.name: [] for cell in cells}
    walls: dict[str, list[float]] = {cell.name: [] for cell in cells}
    work: dict[str, list[int]] = {cell.name: [] for cell in cells}
    gc.collect()
    with timed_stages(time.thread_time) as spent:
        for first in range(0, len(cells[0].questions), _ROUND):
            gauges.append(_gauge())
            for name, sidecar, asked, settings in cells:
                for question in asked[first : first + _ROUND]:
                    spent.clear()
                    wall, cpu = time.perf_counter(), time.thread_time()
                    result = retrieve_evidence(question, sidecar=sidecar, settings=settings)
                    cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
                    if first >= _WARM_UP:
                        samples[name].append({**spent, "total": cpu})
                        walls[name].append(wall)
                        work[name].append(result.work.edges)
    return {cell.name: _summary(samples[cell.name], walls[cell.name], work[cell.name]) for cell in cells}


def _read_through(directory: Path) -> None:
    for path in directory.iterdir():
        with path.open("rb", buffering=0) as file:
            while file.read(1 << 20):
                pass


def _gauge() -> float:
    """Return the seconds that a fixed loop takes: what this machine, as busy as it is, makes of the same work."""
    before = time.thread_time()
    counts: dict[int, float] = {}
    for at in range(4_000):
        counts[at % 97] = counts.get(at % 97, 0.0) + 0.5
    return time.thread_time() - before


def _summary(samples: list[dict[str, float]], walls: list[float], edges: list[int]) -> dict[str, Any]:
    totals = sorted(sample["total"] for sample in samples)
    return {
        "median_ms": _ms(statistics.median(totals)),
        "path_median_ms": _ms(statistics.median(sum(sample.get(stage, 0.0) for stage in PATH) for sample in samples)),
        "p95_ms": _ms(totals[int(0.95 * len(totals))]),
        "wall_median_ms": _ms(statistics.median(walls)),
        "stages_ms": {stage: _ms(statistics.median(sample.get(stage, 0.0) for sample in samples)) for stage in STAGES},
        "edges_median": statistics.median(edges),
    }


def _ms(seconds: float) -> float:
    return round(seconds * 1e3, 3)


def ratios(cells: dict[str, Any], sizes: list[int]) -> dict[str, float]:
    """Return the ratios that are promised, of medians in this run."""

    def total(size: int, backend: str) -> float:
        return float(cells[f"{size} {backend} structural"]["median_ms"])

    small, large = min(sizes), max(sizes)
    found = {f"{large} over {small} entities, lmdb": total(large, "lmdb") / total(small, "lmdb")}
    for size in sizes:
        found[f"sqlite over lmdb, {size}"] = total(size, "sqlite") / total(size, "lmdb")
        cell = cells[f"{size} lmdb structural"]
        found[f"tier 1 over the structural path, {size}"] = cell["stages_ms"]["entry"] / cell["path_median_ms"]
    return {name: round(value, 3) for name, value in found.items()}


def table(report: dict[str, Any]) -> str:
    """Return the report as lines for people."""
    head = ["entities backend call", *STAGES, "path", "total", "p95", "wall"]
    lines = [" | ".join(head)]
    for name, cell in report["cells"].items():
        stages = [f"{value:.2f}" for value in cell["stages_ms"].values()]
        totals = [f"{cell[key]:.2f}" for key in ("path_median_ms", "median_ms", "p95_ms", "wall_median_ms")]
        lines.append(" | ".join([name, *stages, *totals]))
    gauge = report["gauge_ms"]
    lines.append(f"gauge: a fixed loop took {gauge['median']} ms in the middle, {gauge['fastest']} ms at its fastest")
    lines += [f"ratio: {name}: {value}" for name, value in report["ratios"].items()]
    for size, build in report["build"].items():
        lines.append(
            f"build {size}: {build['facts_per_cpu_s']} facts/s, {build['peak_rss_mib']} MiB peak, {build['size_mib']} MiB"
        )
    for size, peer in report["pagerank"].items():
        if peer:
            lines.append(f"igraph prpack {size}: {peer['median_ms']} ms ({peer['nodes']} nodes, {peer['edges']} edges)")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Build what is missing, measure, print the table and write the JSON."""
    parser = argparse.ArgumentParser(prog="python -m eval.bench.structural", description=__doc__)
    parser.add_argument("--sizes", default="10000,1000000", help="entities, separated by commas")
    parser.add_argument("--work", type=Path, required=True, help="where sidecars are built, and kept for the next run")
    parser.add_argument("--json", type=Path, help="where the report is written")
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--fresh", action="store_true", help="build again what is there")
    parser.add_argument("--without-pagerank", action="store_true")
    chosen = parser.parse_args(arguments)
    sizes = [int(size) for size in chosen.sizes.split(",")]
    chosen.work.mkdir(parents=True, exist_ok=True)
    bases = {size: SyntheticBase(size) for size in sizes}
    built = {size: prepared(base, chosen.work, fresh=chosen.fresh) for size, base in bases.items()}
    paths = {(size, name): path for size in sizes for name, path in built[size]["paths"].items()}
    say("reading every file once: the page cache is warm for a server, too")
    for path in paths.values():
        _read_through(path)
    say("measuring")
    measured = measure(paths, bases, questions=chosen.questions)
    report = {
        "provenance": provenance(),
        **measured,
        "ratios": ratios(measured["cells"], sizes),
        "build": {str(size): built[size]["build"] for size in sizes},
        "pagerank": {
            str(size): None if chosen.without_pagerank else pagerank_ms(base, repeats=10 if size <= 100_000 else 3)
            for size, base in bases.items()
        },
    }
    if chosen.json:
        chosen.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(table(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
