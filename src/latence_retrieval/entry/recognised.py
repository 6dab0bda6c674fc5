"""From spans that a model recognised in the query to links: what every model tier does after its forward pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from latence_retrieval.ports.entry_tier import EntryRequest, Link, Span, TierOutcome

__all__ = ["Embedder", "flat_spans", "link_recognised"]

Embedder = Callable[[str], Sequence[float]]
"""The caller's own embedding of one short text, by the model that made `entity_vecs`."""


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
        return TierOutcome(outcome.links, outcome.unlinked, (*outcome.notes, note))
    links, unlinked = list(outcome.links), []
    for span in outcome.unlinked:
        best = request.nearest(embed(span.text), 1)
        if best and best[0][1] >= min_cosine:
            entity, cosine = best[0]
            links.append(Link(entity, max(span.confidence * cosine, 1e-9), tier, span))
        else:
            unlinked.append(span)
    return TierOutcome(tuple(links), tuple(unlinked), outcome.notes)
