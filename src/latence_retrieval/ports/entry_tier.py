"""One tier of entry: from a question to the entities that it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

__all__ = ["EntryRequest", "EntryTier", "Link", "Span", "TierOutcome"]


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` (included) to `end` (excluded) of the query, and what a tier makes of them.

    `confidence` is the tier's own, in [0, 1]; 1.0 where it has none. `label` is an entity type or None.
    """

    start: int
    end: int
    text: str
    label: str | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Link:
    """An entity (its number in the snapshot) that a tier says the query is about.

    `weight` is relative to the other links of the same outcome, above zero. `share` is the part in (0, 1] that
    this entity takes of its form's candidates; `homonyms` are the other candidates with their shares, best first.
    """

    entity: int
    weight: float
    tier: str
    span: Span | None = None
    share: float = 1.0
    homonyms: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, slots=True)
class EntryRequest:
    """What a tier may look at: the query and the snapshot's own look-ups, nothing resident.

    Attributes:
        query: the question as given, cut to the entry limit; spans are offsets into it.
        embedding: the caller's own query embedding, or None.
        entity_types: the labels that entities of the snapshot have, sorted.
        link_spans: resolves spans through the alias table with tier 1's rules for homonyms; spans that no
            alias matches come back in `TierOutcome.unlinked`.
        nearest: searches `entity_vecs` with a vector: (embedding, k) -> [(entity number, cosine)]; None where
            the snapshot has no entity vectors.
        relation_labels: gives the relation labels around the anchors found so far, with their descriptions;
            bounded, most frequent first. Called at most once, only by tiers that classify relations.
    """

    query: str
    embedding: Sequence[float] | None
    entity_types: tuple[str, ...]
    link_spans: Callable[[Sequence[Span], str], TierOutcome]
    nearest: Callable[[Sequence[float], int], Sequence[tuple[int, float]]] | None
    relation_labels: Callable[[], Mapping[str, str | None]]


@dataclass(frozen=True, slots=True)
class TierOutcome:
    """What a tier gave: links, spans that it saw but could not link, and notes for the record.

    `relations` maps relation labels to the probability in [0, 1] that the question asks for them; None where
    the tier has no such signal (absent, which is not zero).
    """

    links: tuple[Link, ...] = ()
    unlinked: tuple[Span, ...] = ()
    notes: tuple[str, ...] = ()
    relations: Mapping[str, float] | None = field(default=None)


@runtime_checkable
class EntryTier(Protocol):
    """A source of anchors. First-party and third-party tiers are registered alike as plugins `entry.<name>`.

    Constructing one must load nothing; the first `enter` may. Must be safe for concurrent calls from threads
    and deterministic for one model. Whatever it raises is recorded in the result (or wrapped in `TierError`
    with `strict=True`), and the other tiers go on.
    """

    @property
    def name(self) -> str:
        """Short name that results carry, such as "gliner2"."""
        ...

    def enter(self, request: EntryRequest) -> TierOutcome:
        """Return the links for this query; an empty outcome where there are none."""
        ...
