"""The translated query: the embedding moved along the walk, without an embedding call.

After the first hop, for a bridge entity b in one of its strongest chunks, the question that is left to ask is about
b instead of the anchors. The vector q - v(anchors) + g × v(b), normalised, stands for it, and every chunk linked to
b is compared with it. A relative of translation in knowledge-graph embeddings (Bordes and others, TransE, NIPS 2013),
here with sentence embeddings of names, at query time, by arithmetic alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from latence_retrieval.query_view import QueryView
from latence_retrieval.settings import TranslationSettings
from latence_retrieval.sidecar.codec import ANY_SENTENCE, EdgeKind, IncidenceBlock

__all__ = ["translated_similarity"]


def translated_similarity(
    view: QueryView,
    restart: Mapping[int, float],
    first_hop: Mapping[int, float],
    settings: TranslationSettings,
    *,
    max_degree: int,
) -> dict[int, float] | None:
    """Score chunks by the query translated to the bridges of the strongest first-hop chunks.

    Args:
        view: the reads of this query, with its embedding.
        restart: mass by anchor.
        first_hop: mass by chunk after the first hop.
        settings: weights and limits.
        max_degree: entities with more hyperedges are no bridges.

    Returns:
        For each chunk linked to a bridge the best of (cosine - floor + overlap term) × support over all bridges,
        where above 0; on no fixed scale, mostly below 1. None where the signal is absent: no embedding, no chunk
        vectors, or nothing to translate from.
    """
    if view.embedding is None or not view.has_similarity or not first_hop:
        return None
    heaviest = sorted(first_hop.items(), key=lambda pair: (-pair[1], pair[0]))[: settings.beam]
    most = heaviest[0][1]
    base = _without_anchors(view, restart, settings.anchor_weight)
    scores: dict[int, float] = {}
    left = settings.max_dot_products
    bridges = 0
    for (chunk, mass), members in zip(heaviest, view.members([chunk for chunk, _ in heaviest]), strict=True):
        support = (mass / most) ** settings.support_power if most > 0.0 else 1.0
        open_terms = view.terms.left_by(chunk)
        entities = [entity for entity, _ in members][: settings.max_bridges - bridges]
        bridges += len(entities)
        for entity, vector in zip(entities, view.entity_vectors(entities), strict=True):
            block = view.incidence(entity)
            if vector is None or block is None or block.degree > max_degree:
                continue
            targets = _targets(block, chunk)[:left]
            if not targets:
                continue
            left -= len(targets)
            moved = _moved(base, vector, settings.bridge_weight)
            cosines = view.chunk_dots(moved, [target for target, _ in targets])
            for (target, mask), cosine in zip(targets, cosines, strict=True):
                open_part = open_terms.overlap(target, mask)
                score = (cosine - settings.floor + settings.overlap_weight * open_part) * support
                if score > scores.get(target, 0.0):
                    scores[target] = score
    return scores


def _without_anchors(view: QueryView, restart: Mapping[int, float], anchor_weight: float) -> list[float]:
    """Return the query embedding less the anchors' vectors, each by its mass."""
    base = list(view.embedding or ())
    for (_, mass), vector in zip(restart.items(), view.entity_vectors(list(restart)), strict=True):
        if vector is not None:
            scale = anchor_weight * mass
            base = [value - scale * part for value, part in zip(base, vector, strict=True)]
    return base


def _moved(base: Sequence[float], bridge: Sequence[float], bridge_weight: float) -> list[float]:
    moved = [value + bridge_weight * part for value, part in zip(base, bridge, strict=True)]
    norm = math.sqrt(sum(value * value for value in moved))
    return [value / norm for value in moved] if norm > 0.0 else moved


def _targets(block: IncidenceBlock, origin: int) -> list[tuple[int, int]]:
    """Return the chunks linked to a bridge with the sentences that name it, each once, the origin left out."""
    targets: dict[int, int] = {}
    for chunk, kind, mark in zip(block.chunks, block.kinds, block.marks, strict=True):
        if chunk != origin and chunk not in targets:
            targets[chunk] = mark if kind == EdgeKind.MENTION else ANY_SENTENCE
    return list(targets.items())
