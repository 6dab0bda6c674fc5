"""Latency against corpus size, out of the report that `python -m eval.bench.structural --json` writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eval.errors import HarnessError

__all__ = ["bench_sizes"]


def bench_sizes(path: Path) -> dict[str, list[tuple[float, float]]]:
    """Return (entities, median ms) by way of storage and kind of call, and of igraph's PageRank where measured.

    Raises:
        HarnessError: the file is missing or is no such report.
    """
    try:
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        cells = report["cells"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        fix = "make it with `python -m eval.bench.structural --json FILE`"
        raise HarnessError(f"{path}: is no report of the bench ({type(error).__name__}); {fix}") from error
    found: dict[str, list[tuple[float, float]]] = {}
    for name, cell in cells.items():
        size, _, kind = name.partition(" ")
        found.setdefault(kind, []).append((float(size), float(cell["median_ms"])))
    for size, peer in (report.get("pagerank") or {}).items():
        if peer:
            found.setdefault("pagerank-style", []).append((float(size), float(peer["median_ms"])))
    return {name: sorted(points) for name, points in found.items()}
