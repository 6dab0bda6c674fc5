"""Tier 2: query entities, and with them the relation types that the question asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from latence_retrieval.entry.recognised import (
    DEFAULT_MIN_COSINE,
    DEFAULT_SPAN_THRESHOLD,
    Embedder,
    RecognisingTier,
    Recognition,
)
from latence_retrieval_gliner2.extractor import Extractor, shared_extractor

__all__ = ["Gliner2Tier"]


class Gliner2Tier(RecognisingTier):
    """An `EntryTier` over a GLiNER2 checkpoint; registered as `entry.gliner2`.

    One encoder forward gives both the spans and, where the anchors found so far have relations around them, the
    probability of each relation. Safe for concurrent use: one load, under a lock.
    """

    latence_plugin_protocol = 1
    latence_plugin_requires = ("gliner2", "torch", "transformers", "peft")
    latence_plugin_extra = "gliner2"

    def __init__(
        self,
        *,
        model: str | os.PathLike[str],
        labels: Sequence[str] | Mapping[str, str | None] | None = None,
        relations: bool = True,
        span_threshold: float = DEFAULT_SPAN_THRESHOLD,
        embed: Embedder | None = None,
        min_cosine: float = DEFAULT_MIN_COSINE,
        device: str = "cpu",
        threads: int | None = None,
        allow_download: bool = False,
        revision: str | None = None,
    ) -> None:
        """Name a checkpoint; nothing is read or imported until the first query.

        Args:
            model: a local directory or a hub id. Required: there is no default checkpoint.
            labels: entity labels to ask, perhaps with descriptions; None takes the snapshot's entity types.
            relations: also score the relation labels around the anchors that earlier tiers found.
            span_threshold: least confidence of a span, in [0, 1].
            embed: the caller's embedder for a span that the alias table lacks; None leaves such spans unlinked.
            min_cosine: least cosine in [-1, 1] for a link by `embed`.
            device: torch device, such as "cpu" or "cuda:0".
            threads: torch threads, set for the whole process at load; None leaves them alone.
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
            ask_relations=relations,
        )
        self.extractor: Extractor = shared_extractor(
            model, device=device, threads=threads, allow_download=allow_download, revision=revision
        )

    @property
    def name(self) -> str:
        """`gliner2`."""
        return "gliner2"

    def warm_up(self) -> None:
        """Load the checkpoint now instead of in the first query; after a failed load, try again.

        Raises:
            MissingExtraError: a package of the extra is absent.
            ModelError: the checkpoint is missing or cannot be opened.
        """
        self.extractor.checkpoint.warm_up()

    def load(self) -> None:
        """Load the checkpoint if it is not loaded."""
        self.extractor.checkpoint.get()

    def recognise(
        self, query: str, labels: Mapping[str, str | None], relations: Mapping[str, str | None]
    ) -> Recognition:
        """Return spans and relation probabilities, from one encoder forward."""
        return self.extractor.read(query, labels=labels, relations=relations, threshold=self.span_threshold)
