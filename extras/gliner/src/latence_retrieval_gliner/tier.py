"""Query entities from a GLiNER checkpoint: spans only, no relation signal."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from latence_retrieval.checkpoints import LazyCheckpoint, import_packages
from latence_retrieval.entry.recognised import (
    DEFAULT_MIN_COSINE,
    DEFAULT_SPAN_THRESHOLD,
    Embedder,
    RecognisingTier,
    Recognition,
)
from latence_retrieval.ports.entry_tier import Span

__all__ = ["MAX_QUERY_WORDS", "GlinerTier"]

MAX_QUERY_WORDS = 192
"""Half of the 384 words that published GLiNER checkpoints were trained to read at once."""

_WORD = re.compile(r"\w+(?:[-_]\w+)*|\S")
"""GLiNER's own default word splitter."""


class GlinerTier(RecognisingTier):
    """An `EntryTier` over a GLiNER checkpoint; registered as `entry.gliner`.

    It gives no relation probabilities, so the relation signal is absent, not zero.
    """

    latence_plugin_protocol = 1
    latence_plugin_requires = ("gliner", "torch", "transformers")
    latence_plugin_extra = "gliner"

    def __init__(
        self,
        *,
        model: str | os.PathLike[str],
        labels: Sequence[str] | Mapping[str, str | None] | None = None,
        span_threshold: float = DEFAULT_SPAN_THRESHOLD,
        embed: Embedder | None = None,
        min_cosine: float = DEFAULT_MIN_COSINE,
        device: str = "cpu",
        allow_download: bool = False,
        revision: str | None = None,
    ) -> None:
        """Name a checkpoint; nothing is read or imported until the first query.

        Args:
            model: a local directory or a hub id. Required: there is no default checkpoint.
            labels: entity labels to ask (descriptions are not used); None takes the snapshot's entity types.
            span_threshold: least confidence of a span, in [0, 1].
            embed: the caller's embedder for a span that the alias table lacks; None leaves such spans unlinked.
            min_cosine: least cosine in [-1, 1] for a link by `embed`.
            device: torch device, such as "cpu" or "cuda:0".
            allow_download: fetch a hub id that is not in the local cache.
            revision: commit or tag of a hub id.

        Raises:
            InvalidInputError: an argument cannot be used.
        """
        super().__init__(
            labels=labels,
            span_threshold=span_threshold,
            embed=embed,
            min_cosine=min_cosine,
            ask_relations=False,
        )
        self._device = device
        self.checkpoint: LazyCheckpoint[Any] = LazyCheckpoint(
            model, imports=_import_packages, load=self._open, allow_download=allow_download, revision=revision
        )

    @property
    def name(self) -> str:
        """`gliner`."""
        return "gliner"

    def warm_up(self) -> None:
        """Load the checkpoint now instead of in the first query; after a failed load, try again.

        Raises:
            MissingExtraError: a package of the extra is absent.
            ModelError: the checkpoint is missing or cannot be opened.
        """
        self.checkpoint.warm_up()

    def load(self) -> None:
        """Load the checkpoint if it is not loaded."""
        self.checkpoint.get()

    def recognise(
        self, query: str, labels: Mapping[str, str | None], relations: Mapping[str, str | None]
    ) -> Recognition:
        """Return the spans that the model finds; it is never asked about `relations`."""
        import torch

        del relations

        words = list(_WORD.finditer(query))
        text = query
        notes: tuple[str, ...] = ()
        if len(words) > MAX_QUERY_WORDS:
            text = query[: words[MAX_QUERY_WORDS - 1].end()]
            notes = (f"gliner: read the first {MAX_QUERY_WORDS} words of the query",)
        with torch.inference_mode():
            found = self.checkpoint.get().predict_entities(text, list(labels), threshold=self.span_threshold)
        spans = [
            Span(
                int(hit["start"]),
                min(int(hit["end"]), len(text)),
                text[hit["start"] : hit["end"]],
                hit["label"],
                min(1.0, max(0.0, float(hit["score"]))),
            )
            for hit in found
        ]
        return Recognition(tuple(spans), None, notes)

    def _open(self, directory: Path) -> Any:
        from gliner import GLiNER

        return GLiNER.from_pretrained(str(directory), local_files_only=True, map_location=self._device).eval()


def _import_packages() -> None:
    import_packages("gliner", "torch", "transformers", "gliner", purpose="GLiNER")
