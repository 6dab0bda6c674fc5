"""The relation signal alone, for callers who link entities some other way."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from latence_retrieval_gliner2.extractor import Extractor, shared_extractor

__all__ = ["MAX_FORWARDS", "Gliner2RelationSignal"]

MAX_FORWARDS = 4
"""Forward passes a question: some 300 labels of a BERT-like encoder, about what one walk meets on open relations."""


class Gliner2RelationSignal:
    """A `RelationSignal` over a GLiNER2 checkpoint; registered as `relq.gliner2`.

    With equal settings it shares the loaded model with `Gliner2Tier`. Where that tier runs, it already gives
    these scores from its own forward pass, and this class is not needed.
    """

    latence_plugin_protocol = 1
    latence_plugin_requires = ("gliner2", "torch", "transformers", "peft")
    latence_plugin_extra = "gliner2"

    def __init__(
        self,
        *,
        model: str | os.PathLike[str],
        device: str = "cpu",
        threads: int | None = None,
        allow_download: bool = False,
        revision: str | None = None,
    ) -> None:
        """Name a checkpoint; the arguments are those of `Gliner2Tier`.

        Raises:
            InvalidInputError: an argument cannot be used.
        """
        self.extractor: Extractor = shared_extractor(
            model, device=device, threads=threads, allow_download=allow_download, revision=revision
        )

    @property
    def name(self) -> str:
        """`gliner2`."""
        return "gliner2"

    def warm_up(self) -> None:
        """Load the checkpoint now instead of in the first query."""
        self.extractor.checkpoint.warm_up()

    def relation_scores(
        self, query: str, labels: Mapping[str, str | None], embedding: Sequence[float] | None
    ) -> Mapping[str, float] | None:
        """Return the probability of each label; None where no label is given.

        Labels that do not fit into one forward pass go into the next, up to `MAX_FORWARDS`; the rest are left out.

        The model reads the words of the query, so `embedding` is not looked at.

        Raises:
            MissingExtraError: a package of the extra is absent.
            ModelError: the checkpoint is missing or cannot be opened.
        """
        del embedding
        if not labels:
            return None
        scores: dict[str, float] = {}
        left = dict(labels)
        for _ in range(MAX_FORWARDS):
            found = self.extractor.read(query, labels={}, relations=left, threshold=1.0).relations
            if not found:
                break
            scores |= found
            left = {label: text for label, text in left.items() if label not in found}
            if not left:
                break
        return scores
