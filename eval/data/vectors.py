"""Vectors of a set: `vectors.npz` with `queries`, `chunks` and perhaps `entities`, rows in file order."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.data.records import Passage, Question, Vectors
from eval.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["VECTORS_FILE", "content_digest", "read_vectors", "unit_rows"]

VECTORS_FILE = "vectors.npz"


def content_digest(passages: Sequence[Passage], questions: Sequence[Question]) -> str:
    """Return a digest of every text that is embedded, so that vectors of other content are never used."""
    digest = hashlib.sha256()
    for passage in passages:
        digest.update(f"{passage.title}\x00{passage.text}\x01".encode())
    for question in questions:
        digest.update(f"{question.row}\x00{question.text}\x02".encode())
    return digest.hexdigest()[:32]


def unit_rows(rows: NDArray[Any]) -> NDArray[np.float32]:
    """Return the rows in float32 with unit norm; a row of zeros stays as it is."""
    import numpy as np

    wide = np.asarray(rows, dtype=np.float32)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    return np.ascontiguousarray(wide / np.where(norms > 0.0, norms, 1.0), dtype=np.float32)


def read_vectors(path: Path, *, queries: int, chunks: int) -> Vectors:
    """Read and check the vectors of a set with so many question and passage rows.

    Raises:
        DataError: an array is missing, has another number of rows or dimension, or holds NaN or infinity.
    """
    import numpy as np

    fix = "run `python -m eval prepare` to compute them again"
    try:
        archive = np.load(path, allow_pickle=False)
        arrays = {key: np.asarray(archive[key]) for key in archive.files}
    except (OSError, ValueError, EOFError, KeyError) as error:
        raise DataError(path, f"cannot be read ({type(error).__name__}: {error})", fix=fix) from error
    for key, expected in (("queries", queries), ("chunks", chunks), ("entities", chunks)):
        if key not in arrays:
            if key == "entities":
                continue
            raise DataError(path, f"has no array {key!r}", fix=fix)
        rows = arrays[key]
        if rows.ndim != 2 or rows.shape[0] != expected:
            raise DataError(path, f"{key!r} has shape {rows.shape}, expected {expected} rows", fix=fix)
        if rows.shape[1] != arrays["queries"].shape[1]:
            raise DataError(path, f"{key!r} and 'queries' differ in dimension", fix=fix)
        if not np.isfinite(rows).all():
            raise DataError(path, f"{key!r} holds NaN or infinity", fix=fix)
    entities = arrays.get("entities")
    return Vectors(
        queries=unit_rows(arrays["queries"]),
        chunks=unit_rows(arrays["chunks"]),
        entities=None if entities is None else unit_rows(entities),
        model=str(arrays["model"]) if "model" in arrays else None,
        content=str(arrays["content"]) if "content" in arrays else None,
    )
