"""Scores passages against a question with a cross-encoder."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latence_retrieval.checkpoints import LazyCheckpoint, checked_count, import_packages
from latence_retrieval.errors import ModelError

__all__ = ["DEFAULT_BATCH_SIZE", "CrossEncoderReranker"]

DEFAULT_BATCH_SIZE = 32
"""The default of sentence-transformers; a smaller one bounds memory, none changes a score's meaning."""


class CrossEncoderReranker:
    """A `Reranker` over a sentence-transformers cross-encoder; registered as `rerank.cross-encoder`.

    Scores are the model's own, after its own activation; they stand beside the other scores of a result and are
    never mixed into them here. Safe for concurrent use: one load, under a lock.
    """

    latence_plugin_protocol = 1
    latence_plugin_requires = ("sentence_transformers", "torch")
    latence_plugin_extra = "rerank"

    def __init__(
        self,
        *,
        model: str | os.PathLike[str],
        batch_size: int = DEFAULT_BATCH_SIZE,
        max_tokens: int | None = None,
        device: str = "cpu",
        allow_download: bool = False,
        revision: str | None = None,
    ) -> None:
        """Name a checkpoint; nothing is read or imported until the first call.

        Args:
            model: a local directory or a hub id. Required: there is no default checkpoint.
            batch_size: question and passage pairs a forward pass, at least 1.
            max_tokens: cut each pair to this many tokens; None leaves the checkpoint's own limit.
            device: torch device, such as "cpu" or "cuda:0".
            allow_download: fetch a hub id that is not in the local cache.
            revision: commit or tag of a hub id.

        Raises:
            InvalidInputError: an argument cannot be used.
        """
        self._batch_size = checked_count("batch_size", batch_size) or DEFAULT_BATCH_SIZE
        self._max_tokens = checked_count("max_tokens", max_tokens)
        self._device = device
        self.checkpoint: LazyCheckpoint[Any] = LazyCheckpoint(
            model, imports=_import_packages, load=self._open, allow_download=allow_download, revision=revision
        )

    @property
    def name(self) -> str:
        """`cross-encoder`."""
        return "cross-encoder"

    def warm_up(self) -> None:
        """Load the checkpoint now instead of in the first call; after a failed load, try again.

        Raises:
            MissingExtraError: a package of the extra is absent.
            ModelError: the checkpoint is missing or cannot be opened.
        """
        self.checkpoint.warm_up()

    def rerank_scores(self, query: str, passages: Sequence[str]) -> Sequence[float]:
        """Return one score per passage, in order: higher is better, on the model's own scale.

        Raises:
            MissingExtraError: a package of the extra is absent.
            ModelError: the checkpoint cannot be opened, or gives another thing than one finite score a pair.
        """
        if not passages:
            return []
        scores = self.checkpoint.get().predict(
            [(query, passage) for passage in passages], batch_size=self._batch_size, show_progress_bar=False
        )
        values = [float(value) for value in scores]
        if not all(math.isfinite(value) for value in values):
            raise ModelError(
                "model",
                self.checkpoint.model,
                "gave a score that is not finite",
                fix="use another checkpoint",
            )
        return values

    def _open(self, directory: Path) -> Any:
        from sentence_transformers import CrossEncoder

        limit = {} if self._max_tokens is None else {"max_length": self._max_tokens}
        model = CrossEncoder(str(directory), device=self._device, local_files_only=True, **limit)
        labels = model.model.config.num_labels
        if labels != 1:
            raise ModelError(
                "model",
                self.checkpoint.model,
                f"gives {labels} scores a pair",
                fix="use a cross-encoder with one label; a classifier over several has no order",
            )
        return model


def _import_packages() -> None:
    import_packages("rerank", "torch", "sentence_transformers", purpose="the cross-encoder reranker")
