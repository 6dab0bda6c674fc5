"""From spans that a model recognises in the query to links: the base of every model tier."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from latence_retrieval.errors import InvalidInputError
from latence_retrieval.ports.entry_tier import EntryRequest, Link, Span, TierOutcome

__all__ = [
    "DEFAULT_MIN_COSINE",
    "DEFAULT_SPAN_THRESHOLD",
    "FALLBACK_LABELS",
    "MAX_LABELS",
    "Embedder",
    "RecognisingTier",
    "Recognition",
    "flat_spans",
    "link_recognised",
]

Embedder = Callable[[str], Sequence[float]]
"""The caller's own embedding of one short text, by the model that made `entity_vecs`."""

FALLBACK_LABELS: tuple[str, ...] = ("person", "organization", "location", "event", "product", "work of art")
"""Asked where neither the caller nor the snapshot names entity types: the nouns of OntoNotes 5's label set."""

MAX_LABELS = 32
"""Entity labels asked at once: each costs about four of a BERT-like encoder's 512 positions."""

DEFAULT_SPAN_THRESHOLD = 0.5
"""The default of both GLiNER packages."""

DEFAULT_MIN_COSINE = 0.6
"""Least cosine for a link by vector; adr/0023 has the sweep that it comes from."""


@dataclass(frozen=True, slots=True)
class Recognition:
    """What one pass of a model gave: spans, perhaps overlapping, and relation probabilities or None."""

    spans: tuple[Span, ...] = ()
    relations: Mapping[str, float] | None = None
    notes: tuple[str, ...] = ()


class RecognisingTier(ABC):
    """An `EntryTier` over a model that recognises spans; a subclass brings the model.

    Spans go through the alias table with tier 1's rules for homonyms. One that the table lacks goes to the nearest
    entity vector if the caller gave an embedder, and is reported as unlinked otherwise.
    """

    def __init__(
        self,
        *,
        labels: Sequence[str] | Mapping[str, str | None] | None,
        span_threshold: float,
        embed: Embedder | None,
        min_cosine: float,
        ask_relations: bool,
    ) -> None:
        """Check and keep the settings.

        Args:
            labels: entity labels to ask, perhaps with descriptions; None takes the snapshot's entity types, or
                `FALLBACK_LABELS` where it has none.
            span_threshold: least confidence of a span, in [0, 1].
            embed: the caller's embedder for a span that the alias table lacks, or None.
            min_cosine: least cosine in [-1, 1] for a link by `embed`.
            ask_relations: hand the relation labels around the anchors found so far to `recognise`.

        Raises:
            InvalidInputError: an argument cannot be used.
        """
        _within("span_threshold", span_threshold, 0.0, 1.0)
        _within("min_cosine", min_cosine, -1.0, 1.0)
        self._labels = _as_mapping(labels)
        self._embed = embed
        self._min_cosine = min_cosine
        self._ask_relations = ask_relations
        self.span_threshold = span_threshold

    @property
    @abstractmethod
    def name(self) -> str:
        """Short name that results carry."""

    @abstractmethod
    def warm_up(self) -> None:
        """Load the model now; after a failed load, try again."""

    @abstractmethod
    def load(self) -> None:
        """Load the model if it is not loaded; raise what a failed load raised."""

    @abstractmethod
    def recognise(
        self, query: str, labels: Mapping[str, str | None], relations: Mapping[str, str | None]
    ) -> Recognition:
        """Return the spans of `query`, with half-open offsets, and the probability of each relation label."""

    def enter(self, request: EntryRequest) -> TierOutcome:
        """Return links, unlinked spans and relation probabilities for this query.

        Raises:
            MissingExtraError: a package that the model needs is absent.
            ModelError: the checkpoint is missing or cannot be opened.
        """
        self.load()  # before the look-ups, so that a missing model costs nothing else
        labels = self._labels or dict.fromkeys(request.entity_types or FALLBACK_LABELS)
        asked = dict(list(labels.items())[:MAX_LABELS])
        relations = request.relation_labels() if self._ask_relations else {}
        found = self.recognise(request.query, asked, relations)
        outcome = link_recognised(
            request, flat_spans(found.spans), tier=self.name, embed=self._embed, min_cosine=self._min_cosine
        )
        notes = [*outcome.notes, *found.notes]
        if len(asked) < len(labels):
            notes.append(f"{self.name}: asked for {len(asked)} of {len(labels)} entity labels")
        return replace(outcome, notes=tuple(notes), relations=found.relations)


def flat_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Return spans without overlaps: the most confident stays, then the longer, the earlier, the lesser label.

    Args:
        spans: as a model gave them, perhaps one stretch of text under several labels.

    Returns:
        The spans that stay, in order of their start.
    """
    kept: list[Span] = []
    order = sorted(spans, key=lambda s: (-s.confidence, s.start - s.end, s.start, s.label or ""))
    for span in order:
        if span.end > span.start and all(span.end <= k.start or span.start >= k.end for k in kept):
            kept.append(span)
    return tuple(sorted(kept, key=lambda span: span.start))


def link_recognised(
    request: EntryRequest, spans: Sequence[Span], *, tier: str, embed: Embedder | None, min_cosine: float
) -> TierOutcome:
    """Link spans through the alias table; the rest by nearest entity vector, only if the caller embeds.

    Args:
        request: the query and the snapshot's look-ups.
        spans: recognised spans, none overlapping another.
        tier: name that the links carry.
        embed: the caller's embedder, or None: then a span that the table lacks stays unlinked, never guessed.
        min_cosine: least cosine of span and entity for a link by vector.

    Returns:
        The alias table's outcome; links by vector weigh the span's confidence times the cosine.
    """
    outcome = request.link_spans(spans, tier)
    if embed is None or not outcome.unlinked:
        return outcome
    if request.nearest is None:
        note = f"{tier}: no entity vectors in the snapshot, so unknown spans stay unlinked"
        return replace(outcome, notes=(*outcome.notes, note))
    links, unlinked = list(outcome.links), []
    for span in outcome.unlinked:
        best = request.nearest(embed(span.text), 1)
        if best and best[0][1] >= min_cosine:
            entity, cosine = best[0]
            links.append(Link(entity, max(span.confidence * cosine, 1e-9), tier, span))
        else:
            unlinked.append(span)
    return replace(outcome, links=tuple(links), unlinked=tuple(unlinked))


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
