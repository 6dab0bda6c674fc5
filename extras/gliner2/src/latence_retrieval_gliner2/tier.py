"""Tier 2: query entities, and with them the relation types that the question asks for."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace

from latence_retrieval.entry.recognised import Embedder, flat_spans, link_recognised
from latence_retrieval.errors import InvalidInputError
from latence_retrieval.ports.entry_tier import EntryRequest, TierOutcome
from latence_retrieval_gliner2.extractor import Extractor, shared_extractor

__all__ = ["DEFAULT_MIN_COSINE", "DEFAULT_SPAN_THRESHOLD", "FALLBACK_LABELS", "MAX_LABELS", "Gliner2Tier"]

FALLBACK_LABELS: tuple[str, ...] = ("person", "organization", "location", "event", "product", "work of art")
"""Asked where neither the caller nor the snapshot names entity types: the nouns of OntoNotes 5's label set."""

MAX_LABELS = 32
"""Entity labels asked at once: each costs about four of the encoder's 512 positions."""

DEFAULT_SPAN_THRESHOLD = 0.5
"""GLiNER2's own default."""

DEFAULT_MIN_COSINE = 0.75
"""Least cosine for a link by vector; see adr/0023 for what it was measured on."""


class Gliner2Tier:
    """An `EntryTier` over a GLiNER2 checkpoint; registered as `entry.gliner2`.

    One encoder forward gives both the spans and, where the anchors found so far have relations around them, the
    probability of each relation. Spans go through the alias table with tier 1's rules for homonyms.
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
            labels: entity labels to ask, perhaps with descriptions; None takes the snapshot's entity types, or
                `FALLBACK_LABELS` where it has none.
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
        _within("span_threshold", span_threshold, 0.0, 1.0)
        _within("min_cosine", min_cosine, -1.0, 1.0)
        self._labels = _as_mapping(labels)
        self._ask_relations = relations
        self._span_threshold = span_threshold
        self._embed = embed
        self._min_cosine = min_cosine
        self.extractor: Extractor = shared_extractor(
            model, device=device, threads=threads, allow_download=allow_download, revision=revision
        )

    @property
    def name(self) -> str:
        """`gliner2`."""
        return "gliner2"

    def warm_up(self) -> None:
        """Load the checkpoint now instead of in the first query.

        Raises:
            MissingExtraError: a package of the extra is absent.
            ModelError: the checkpoint is missing or cannot be opened.
        """
        self.extractor.checkpoint.warm_up()

    def enter(self, request: EntryRequest) -> TierOutcome:
        """Return links, unlinked spans and relation probabilities for this query.

        Raises:
            MissingExtraError: a package of the extra is absent.
            ModelError: the checkpoint is missing or cannot be opened.
        """
        self.extractor.checkpoint.get()  # before the look-ups, so that a missing model costs nothing else
        labels = self._labels or dict.fromkeys(request.entity_types or FALLBACK_LABELS)
        asked = dict(list(labels.items())[:MAX_LABELS])
        relations = request.relation_labels() if self._ask_relations else {}
        reading = self.extractor.read(
            request.query, labels=asked, relations=relations, threshold=self._span_threshold
        )
        outcome = link_recognised(
            request, flat_spans(reading.spans), tier=self.name, embed=self._embed, min_cosine=self._min_cosine
        )
        notes = [*outcome.notes, *reading.notes]
        if len(asked) < len(labels):
            notes.append(f"gliner2: asked for {len(asked)} of {len(labels)} entity labels")
        return replace(outcome, notes=tuple(notes), relations=reading.relations)


def _as_mapping(labels: Sequence[str] | Mapping[str, str | None] | None) -> dict[str, str | None] | None:
    if labels is None:
        return None
    given = dict(labels) if isinstance(labels, Mapping) else dict.fromkeys(labels)
    if isinstance(labels, str) or not given or not all(isinstance(k, str) and k.strip() for k in given):
        raise InvalidInputError(
            "labels",
            f"is {labels!r}",
            fix="pass a list of non-empty label strings, or None for the snapshot's",
        )
    return given


def _within(argument: str, value: float, least: float, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value <= most:
        raise InvalidInputError(argument, f"is {value!r}", fix=f"pass a number from {least} to {most}")
