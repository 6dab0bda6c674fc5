"""A personalised random walk with restart over entities and hyperedges, by local push.

Andersen, Chung and Lang, "Local graph partitioning using PageRank vectors" (FOCS 2006): mass that has arrived at a
node and was not yet passed on is its residual; pushing a node books its residual and passes a part on. Cost follows
the pushes, not the size of the graph. Departures: residuals are pushed hop by hop, the largest first, so that each
hop's paths can be told (`Layer`), and a work limit stands beside the tolerance. What was not pushed is known: with
continue probability c, the booked masses together fall short of the exact walk's by at most
`residual` / (1 - c), all nodes together (tests hold it against a dense power iteration).

Transitions. From an entity: its chunks and facts, by kind (about, fact times confidence, mention), times
exp(sharpness × cosine of query and chunk), times exp(sharpness × overlap of the naming sentence with what the anchors leave
unexplained of the question). From a chunk's hyperedge: its entities, by 1 / ln(2 + their chunks), less for
discovered phrases, more for those named in a sentence with such an overlap. Anchors take no mass back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

from latence_retrieval.settings import WalkSettings
from latence_retrieval.sidecar.codec import ANY_SENTENCE, LOG_DEGREE_DAMPING, MILLION, EdgeKind, IncidenceBlock
from latence_retrieval.walk import Arrival, Layer, Walk, Witness

__all__ = ["Graph", "Overlap", "push"]


class Overlap(Protocol):
    """How much of the question's open terms a sentence holds."""

    def overlap(self, chunk: int, mask: int) -> float:
        """Return a part in [0, 1]."""
        ...


class Graph(Protocol):
    """What the walk reads."""

    has_similarity: bool
    terms: Overlap
    edges: int

    def incidence(self, entity: int) -> IncidenceBlock | None:
        """Return the strongest hyperedges of an entity."""
        ...

    def members(self, chunks: Sequence[int]) -> list[list[tuple[int, float]]]:
        """Return the entities of chunks with their weights (above 0, any scale), anchors left out."""
        ...

    def similarity(self, chunks: Sequence[int]) -> list[float]:
        """Return cosines with the query."""
        ...


def push(
    graph: Graph,
    restart: Mapping[int, float],
    seeds: Mapping[int, float],
    settings: WalkSettings,
) -> Walk:
    """Walk from anchors and first-stage chunks.

    Args:
        graph: the reads of this query.
        restart: mass by entity.
        seeds: mass by chunk; together with `restart` it sums to one, or to zero.
        settings: transition weights and limits.

    Returns:
        Activations and layers; empty where no mass was given.
    """
    walk = Walk({}, {}, {}, {}, [], 0.0, 0)
    layer = Layer(dict(restart))
    incoming = dict(seeds)
    for chunk, mass in seeds.items():
        layer.witnesses[chunk] = [Witness(mass, -1, 0, -1)]
    goes_on = settings.continue_probability
    for hop in range(settings.max_hops):
        walk.layers.append(layer)
        following = Layer({})
        limit = settings.max_anchor_pushes if hop == 0 else settings.max_entity_pushes
        _push_entities(graph, layer, incoming, following, walk, settings, limit=limit)
        layer.chunks = incoming
        for chunk, mass in incoming.items():
            walk.chunks[chunk] = walk.chunks.get(chunk, 0.0) + mass
        is_last = hop + 1 == settings.max_hops
        if is_last or goes_on == 0.0:
            direct = sum(incoming.values()) - sum(layer.over_facts.values())
            walk.residual += goes_on * direct + sum(following.entities.values())
            break
        _push_chunks(graph, layer, following, walk, settings)
        if not following.entities:
            break
        layer, incoming = following, {}
    return walk


def _push_entities(
    graph: Graph,
    layer: Layer,
    incoming: dict[int, float],
    following: Layer,
    walk: Walk,
    settings: WalkSettings,
    *,
    limit: int,
) -> None:
    """Pass the entities' mass on to chunks and, over facts, to other entities."""
    goes_on = settings.continue_probability
    pushed = 0
    for entity, mass in sorted(layer.entities.items(), key=lambda pair: (-pair[1], pair[0])):
        walk.entities[entity] = walk.entities.get(entity, 0.0) + mass
        if pushed >= limit or mass < settings.tolerance:
            walk.residual += mass
            continue
        block = graph.incidence(entity)
        if block is None or (layer.arrivals and block.degree > settings.max_degree):
            continue  # nothing to pass on to, or a hub that takes mass and keeps it
        pushed += 1
        weights = _edge_weights(graph, block, settings)
        total = sum(weights)
        if total <= 0.0:
            continue
        graph.edges += len(weights)
        scale = mass / total
        witnesses = layer.witnesses
        start = 0
        for at, weight in enumerate(weights):
            stop = block.ends[at]
            share = scale * weight
            chunk = block.chunks[at]
            fact = block.marks[at] if block.kinds[at] == EdgeKind.FACT else -1
            witness = Witness(share, entity, block.relations[at], fact)
            if chunk in incoming:
                incoming[chunk] += share
                witnesses[chunk].append(witness)
            else:
                incoming[chunk] = share
                witnesses[chunk] = [witness]
            if fact >= 0:
                walk.facts[fact] = walk.facts.get(fact, 0.0) + share
                walk.confidences[fact] = block.confidences[at] / MILLION
                if block.ends[at] > start:
                    layer.over_facts[chunk] = layer.over_facts.get(chunk, 0.0) + share
                    _pass_over_fact(block, at, start, stop, share * goes_on, entity, following, settings)
            start = stop
    walk.pushes += pushed


def _edge_weights(graph: Graph, block: IncidenceBlock, settings: WalkSettings) -> list[float]:
    """Return the transition weight of each hyperedge of a block, up to the limit of mentions."""
    base = (settings.about_weight, settings.fact_weight / MILLION, settings.mention_weight)
    count = min(len(block.chunks), settings.max_edges)
    kinds = block.kinds
    overlap = graph.terms.overlap
    sharpness = settings.overlap_sharpness
    weights = []
    cosines = graph.similarity(block.chunks[:count]) if graph.has_similarity else None
    for at in range(count):
        kind = kinds[at]
        weight = base[kind]
        if kind == EdgeKind.FACT:
            weight *= block.confidences[at]
            part = overlap(block.chunks[at], ANY_SENTENCE)
        elif kind == EdgeKind.ABOUT:
            part = overlap(block.chunks[at], ANY_SENTENCE)
        else:
            part = overlap(block.chunks[at], block.marks[at])
        exponent = sharpness * part
        if cosines is not None:
            exponent += settings.query_sharpness * cosines[at]
        weights.append(weight * math.exp(exponent) if exponent else weight)
    return weights


def _pass_over_fact(
    block: IncidenceBlock,
    at: int,
    start: int,
    stop: int,
    mass: float,
    source: int,
    following: Layer,
    settings: WalkSettings,
) -> None:
    """Pass a fact's mass on to its other members."""
    members = block.members[start:stop]
    weights = [
        LOG_DEGREE_DAMPING[block.log_degrees[start + place]] * (settings.discovered_weight if member & 1 else 1.0)
        for place, member in enumerate(members)
    ]
    total = sum(weights)
    for member, weight in zip(members, weights, strict=True):
        share = mass * weight / total
        arrival = Arrival(share, block.chunks[at], block.relations[at], block.marks[at], source)
        _arrive(following, member >> 1, arrival)


def _push_chunks(
    graph: Graph,
    layer: Layer,
    following: Layer,
    walk: Walk,
    settings: WalkSettings,
) -> None:
    """Pass the heaviest chunks' mass on to the entities that stand in them."""
    goes_on = settings.continue_probability
    over_facts = layer.over_facts
    direct = [(chunk, mass - over_facts.get(chunk, 0.0)) for chunk, mass in layer.chunks.items()]
    heaviest = sorted(direct, key=lambda pair: (-pair[1], pair[0]))
    chosen = [pair for pair in heaviest[: settings.max_chunk_pushes] if pair[1] >= settings.tolerance]
    walk.residual += goes_on * sum(mass for _, mass in heaviest[len(chosen) :])
    for (chunk, mass), weighed in zip(chosen, graph.members([chunk for chunk, _ in chosen]), strict=True):
        walk.pushes += 1
        total = sum(weight for _, weight in weighed)
        if total <= 0.0:
            continue
        scale = goes_on * mass / total
        for entity, weight in weighed:
            _arrive(following, entity, Arrival(scale * weight, chunk, 0, -1, -1))


def _arrive(layer: Layer, entity: int, arrival: Arrival) -> None:
    if entity in layer.entities:
        layer.entities[entity] += arrival.mass
        layer.arrivals[entity].append(arrival)
    else:
        layer.entities[entity] = arrival.mass
        layer.arrivals[entity] = [arrival]
