"""Build an index file and its header."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from latence_retrieval.errors import InvalidInputError, needs_extra
from latence_retrieval.vectors import VectorFile
from latence_retrieval_hnsw.header import Header, header_path, sha256_of

__all__ = ["DEFAULT_EF_CONSTRUCTION", "DEFAULT_M", "build_index"]

DEFAULT_M = 16
DEFAULT_EF_CONSTRUCTION = 200
"""Both as hnswlib's own defaults."""

_SEED = 100  # hnswlib's default; it decides the levels of elements
_BLOCK_ROWS = 4096
_UNIT_TOLERANCE = 1e-5  # float32 rounding of a unit vector stays below


def build_index(
    vectors: VectorFile | Any, path: Path, *, snapshot_id: str | None, m: int, ef_construction: int, threads: int
) -> None:
    """Write the index, then its header, each to a temporary sibling that is renamed; see `HnswEntityIndex.build`."""
    with needs_extra("hnsw", package="numpy", purpose="the HNSW entity index"):
        import numpy as np
    with needs_extra("hnsw", package="hnswlib", purpose="the HNSW entity index"):
        import hnswlib
    rows, dimension = _shape(vectors)
    present = sum(int(block.any(axis=1).sum()) for _, block in _blocks(vectors, np))
    index = hnswlib.Index(space="ip", dim=dimension)
    index.init_index(max_elements=max(1, present), M=m, ef_construction=ef_construction, random_seed=_SEED)
    for start, block in _blocks(vectors, np):
        numbers = np.flatnonzero(block.any(axis=1))
        if len(numbers):
            index.add_items(_units(block[numbers], np), numbers + start, num_threads=threads)
    staged = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        index.save_index(str(staged))
        _flush(staged)
        header = Header(
            dimension=dimension,
            rows=rows,
            present=present,
            m=m,
            ef_construction=ef_construction,
            size_bytes=staged.stat().st_size,
            sha256=sha256_of(staged),
            snapshot_id=snapshot_id,
        )
        staged.replace(path)
        staged.write_text(header.model_dump_json(indent=1) + "\n", encoding="utf-8")
        _flush(staged)
        staged.replace(header_path(path))
    finally:
        staged.unlink(missing_ok=True)


def _units(rows: Any, np: Any) -> Any:
    """Return rows at unit length; those of a snapshot are, and stay as they are to the last bit."""
    norms = np.linalg.norm(rows.astype("f8"), axis=1, keepdims=True)
    norms[np.abs(norms - 1.0) < _UNIT_TOLERANCE] = 1.0
    return (rows / norms).astype("f4")


def _shape(vectors: VectorFile | Any) -> tuple[int, int]:
    if isinstance(vectors, VectorFile):
        return vectors.count, vectors.dimension
    shape = tuple(getattr(vectors, "shape", ()))
    if len(shape) != 2 or shape[1] == 0:
        raise InvalidInputError("vectors", f"have shape {shape}", fix="pass a VectorFile or a two-dimensional array")
    return shape[0], shape[1]


def _blocks(vectors: VectorFile | Any, np: Any) -> Iterator[tuple[int, Any]]:
    """Yield (first row, block of rows as float32)."""
    rows, dimension = _shape(vectors)
    for start in range(0, rows, _BLOCK_ROWS):
        stop = min(rows, start + _BLOCK_ROWS)
        if isinstance(vectors, VectorFile):
            data = b"".join(vectors.row(number).tobytes() for number in range(start, stop))
            block = np.frombuffer(data, dtype="f4").reshape(stop - start, dimension)
        else:
            block = np.asarray(vectors[start:stop], dtype="f4")
        if not np.isfinite(block).all():
            row = start + int(np.flatnonzero(~np.isfinite(block).all(axis=1))[0])
            raise InvalidInputError("vectors", f"have NaN or infinity in row {row}", fix="repair or zero that row")
        yield start, block


def _flush(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())
