"""Fixtures of the harness's tests: a tiny set in the compact format, written afresh for each test."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
for place in (HERE.parents[1], HERE):
    if str(place) not in sys.path:
        sys.path.insert(0, str(place))

from tiny_set import ANCHORS, CORPUS, QUERIES, write_lines  # noqa: E402 - needs the path above


@pytest.fixture
def make_set(tmp_path: Path) -> Callable[..., Path]:
    """Return a writer of the tiny set; it gives the data folder."""

    def write(name: str = "tiny", *, vectors: bool = True, anchors: bool = True, **changes: Any) -> Path:
        folder = tmp_path / "data" / name
        write_lines(folder / "corpus.jsonl.gz", changes.get("corpus", CORPUS))
        write_lines(folder / "queries.jsonl.gz", changes.get("queries", QUERIES))
        if anchors:
            write_lines(folder / "query_anchors.jsonl.gz", ANCHORS)
        if vectors:
            np = pytest.importorskip("numpy")
            random = np.random.default_rng(7)
            shapes = {"queries": len(QUERIES), "chunks": len(CORPUS), "entities": len(CORPUS)}
            arrays = {key: random.normal(size=(rows, 8)).astype(np.float16) for key, rows in shapes.items()}
            np.savez(folder / "vectors.npz", **{**arrays, **changes.get("arrays", {})})
        return folder.parent

    return write
