"""What the question asks of a bridge entity: the query translated along the walk, without an embedding call.

After the first hop, for a bridge entity b in one of its strongest chunks, the question that is left to ask is about
b instead of the anchors. The vector q - v(anchors) + g × v(b), normalised, stands for it, and every chunk linked to b
is compared with it. A relative of translation in knowledge-graph embeddings (Bordes and others, TransE, NIPS 2013), here
with sentence embeddings of names, at query time, by arithmetic alone: a chunk's cosine is put together from its dot
products with q - v(anchors), one a chunk, and with v(b), which stands in b's record.

Beside the cosine counts how much the sentence that names b holds of the question's terms which the first chunk left
open; without an embedding, that alone.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from typing import NamedTuple

from latence_retrieval.query_view import Held, Member, OpenTerms, QueryView
from latence_retrieval.settings import TranslationSettings
from latence_retrieval.sidecar.codec import ANY_SENTENCE, IncidenceBlock, unpacked_dot
from latence_retrieval.walk import Walk

__all__ = ["translated_similarity"]

_FARTHEST_SENTENCE = 4


_Target = tuple[int, int, int]
"""A chunk, the mask of the sentences that name the bridge, and the packed dot product of their vectors."""


class _Bridge(NamedTuple):
    onto_base: float | None  # its vector's dot product with q - v(anchors); None without vectors
    targets: list[_Target]
    support: float
    distance: float
    open_terms: OpenTerms
    held: Mapping[int, Held]  # by chunk, those of the open terms that it holds


def translated_similarity(
    view: QueryView, restart: Mapping[int, float], walk: Walk, settings: TranslationSettings
) -> dict[int, float] | None:
    """Score chunks by what the question asks of the bridges between the first and the second hop.

    Args:
        view: the reads of this query.
        restart: mass by anchor.
        walk: its first layer's spread chunks are where bridges come from, its second layer's pushed entities are they.
        settings: weights and limits.

    Returns:
        For each chunk linked to a bridge the best over all bridges of (cosine - floor + overlap term - distance) ×
        support, where above 0; on no fixed scale, mostly below 1. None where the walk made no second hop.
    """
    if len(walk.layers) < 2:
        return None
    base = _without_anchors(view, restart, settings.anchor_weight) if view.has_similarity else None
    bridges = _bridges(view, walk, base, settings)
    onto_base: dict[int, float] = {}
    length_squared = 0.0
    if base is not None:
        targets = list(dict.fromkeys([chunk for bridge in bridges for chunk, _, _ in bridge.targets]))
        targets = targets[: settings.max_dot_products]
        onto_base = dict(zip(targets, view.chunk_dots(base, targets), strict=True))
        length_squared = sum([value * value for value in base])
    scores: dict[int, float] = {}
    for bridge in bridges:
        moved = length_squared
        if bridge.onto_base is not None:
            moved += 2.0 * settings.bridge_weight * bridge.onto_base + settings.bridge_weight**2
        length = math.sqrt(moved) if moved > 1e-9 else 1.0
        for chunk, mask, packed in bridge.targets:
            part = bridge.open_terms.overlap(bridge.held[chunk], mask) if chunk in bridge.held else 0.0
            score = settings.overlap_weight * part - bridge.distance
            along = onto_base.get(chunk)
            if along is not None and packed and bridge.onto_base is not None:
                score += (along + settings.bridge_weight * unpacked_dot(packed)) / length - settings.floor
            score *= bridge.support
            if score > scores.get(chunk, 0.0):
                scores[chunk] = score
    return scores


def _bridges(view: QueryView, walk: Walk, base: Sequence[float] | None, settings: TranslationSettings) -> list[_Bridge]:
    """Return the bridges by chunk and member, in order."""
    first, second = walk.layers[:2]
    pushed = [pushed.entity for pushed in second.pushed]
    blocks = dict(zip(pushed, view.incidences(pushed), strict=True))
    onto_base = _onto_base(view, pushed, base)
    most = max((first.chunks[chunk] for chunk in first.spread), default=0.0)
    found: list[_Bridge] = []
    for chunk, members in zip(first.spread, view.members(first.spread), strict=True):
        support = (first.chunks[chunk] / most) ** settings.support_power if most > 0.0 else 1.0
        open_terms = view.terms.left_by(chunk)
        for member in members:
            block = blocks.get(member.entity)
            if block is None:
                continue
            held = open_terms.held(block.chunks)
            if base is None and not held:
                continue  # nothing can lift its targets above 0
            found.append(
                _Bridge(
                    onto_base.get(member.entity),
                    _targets(block, chunk, held if base is None else None),
                    support * (settings.discovered_weight if member.is_discovered else 1.0),
                    settings.distance_cost * _sentences_before(member),
                    open_terms,
                    held,
                )
            )
    return found


def _sentences_before(member: Member) -> int:
    """Return how many sentences stand before the one that first names the entity, up to four."""
    if member.mask == ANY_SENTENCE:
        return 0
    first = (member.mask & -member.mask).bit_length() - 2
    return min(_FARTHEST_SENTENCE, max(0, first))


def _onto_base(view: QueryView, entities: Sequence[int], base: Sequence[float] | None) -> dict[int, float]:
    """Return the dot product of each entity's vector with the base; entities without a vector are left out."""
    vectors = view.sidecar.entity_vectors
    if vectors is None or base is None or not entities:
        return {}
    view.dot_products += len(entities)
    dots = zip(entities, vectors.dots(base, entities), strict=True)
    return {entity: dot for entity, dot in dots if dot != 0.0 or not vectors.is_absent(entity)}


def _without_anchors(view: QueryView, restart: Mapping[int, float], anchor_weight: float) -> list[float]:
    """Return the query embedding less the anchors' vectors, each by its mass."""
    base = list(view.embedding or ())
    for (_, mass), vector in zip(restart.items(), view.entity_vectors(list(restart)), strict=True):
        if vector is not None:
            scale = anchor_weight * mass
            base = [value - scale * part for value, part in zip(base, vector, strict=True)]
    return base


def _targets(block: IncidenceBlock, origin: int, among: Container[int] | None) -> list[_Target]:
    """Return the chunks (of `among`, if given) linked to a bridge, with the sentences that name it, without the origin."""
    targets: dict[int, _Target] = {}
    mentions = block.facts_to
    for at, (chunk, mark, dot) in enumerate(zip(block.chunks, block.marks, block.dots, strict=True)):
        if chunk != origin and chunk not in targets and (among is None or chunk in among):
            targets[chunk] = (chunk, mark if at >= mentions else ANY_SENTENCE, dot)
    return list(targets.values())
