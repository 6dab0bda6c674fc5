"""A personalised random walk with restart over entities and hyperedges, by local push.

Andersen, Chung and Lang, "Local graph partitioning using PageRank vectors" (FOCS 2006): mass that has arrived at a
node and was not yet passed on is its residual; pushing a node books its residual and passes a part on. Cost follows
the pushes, not the size of the graph. Departures: residuals are pushed hop by hop, the largest first, so that each
hop's paths can be told (`Layer`), and a work limit stands beside the tolerance. What was not pushed is known: with
continue probability c, the booked masses of all chunks together fall short of the exact walk's by at most
`residual` / (1 - c), and so do those of all entities (tests hold it against a dense power iteration).

Transitions. From an entity: its chunks and facts, by kind (about, fact times confidence, mention), times
exp(sharpness × overlap of the naming sentence with what the anchors leave unexplained of the question). From a
chunk's hyperedge: its entities, by 1 / ln(2 + their chunks), less for discovered phrases, more for those named in a
sentence with such an overlap. Anchors take no mass back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from typing import Protocol, cast

from latence_retrieval.query_view import Member
from latence_retrieval.settings import WalkSettings
from latence_retrieval.sidecar.codec import ANY_SENTENCE, LOG_DEGREE_DAMPING, MILLION, EdgeKind, IncidenceBlock
from latence_retrieval.walk import FIRST_STAGE, NO_FACT, Arrival, Layer, Walk, Witness

__all__ = ["Graph", "Overlap", "push"]

_witness = cast("Callable[[tuple[float, int, int, int]], Witness]", partial(tuple.__new__, Witness))  # thrice as quick
_arrival = cast("Callable[[tuple[float, int, int, int, int]], Arrival]", partial(tuple.__new__, Arrival))
_FACT, _MENTION = int(EdgeKind.FACT), int(EdgeKind.MENTION)  # comparing with a member of the enum is slow


class Overlap(Protocol):
    """How much of the question's open terms a sentence holds."""

    def touching(self, chunks: Sequence[int]) -> Container[int]:
        """Return those of `chunks` that hold any of the terms: for the others the overlap is 0."""
        ...

    def overlap(self, chunk: int, mask: int) -> float:
        """Return a part in [0, 1]."""
        ...


class Graph(Protocol):
    """What the walk reads."""

    edges: int

    @property
    def terms(self) -> Overlap:
        """What the question leaves open."""
        ...

    def incidences(self, entities: Sequence[int]) -> list[IncidenceBlock | None]:
        """Return the strongest hyperedges of each entity."""
        ...

    def members(self, chunks: Sequence[int]) -> Sequence[Sequence[Member]]:
        """Return the entities of chunks with their weights (above 0, any scale), anchors left out."""
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
        layer.witnesses[chunk] = [Witness(mass, FIRST_STAGE, 0, NO_FACT)]
    goes_on = settings.continue_probability
    for hop in range(settings.max_hops):
        walk.layers.append(layer)
        is_last = hop + 1 == settings.max_hops or goes_on == 0.0
        following = None if is_last else Layer({})
        # Each further hop has less mass to tell apart, and half the work.
        limit = settings.max_anchor_pushes if hop == 0 else settings.max_entity_pushes >> (hop - 1)
        _push_entities(graph, layer, incoming, following, walk, settings, limit=limit)
        layer.chunks = incoming
        for chunk, mass in incoming.items():
            walk.chunks[chunk] = walk.chunks.get(chunk, 0.0) + mass
        if following is None:
            walk.residual += goes_on * sum(incoming.values())
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
    following: Layer | None,
    walk: Walk,
    settings: WalkSettings,
    *,
    limit: int,
) -> None:
    """Pass the entities' mass on to chunks and, over facts, to other entities (not in the last hop)."""
    ordered = sorted(layer.entities.items(), key=lambda pair: (-pair[1], pair[0]))
    for entity, mass in ordered:
        walk.entities[entity] = walk.entities.get(entity, 0.0) + mass
    heavy = [pair for pair in ordered[:limit] if pair[1] >= settings.tolerance]
    walk.residual += sum(mass for _, mass in ordered[len(heavy) :])
    pushed = [
        (entity, mass, block)
        for (entity, mass), block in zip(heavy, graph.incidences([entity for entity, _ in heavy]), strict=True)
        # An entity without hyperedges has nothing to pass on to; a hub takes mass and keeps it, unless it is an anchor.
        if block is not None and (not layer.arrivals or block.degree <= settings.max_degree)
    ]
    layer.pushed = [entity for entity, _, _ in pushed]
    walk.pushes += len(pushed)
    for entity, mass, block in pushed:
        _push_entity(graph, entity, mass, block, layer, incoming, following, walk, settings)


def _push_entity(
    graph: Graph,
    entity: int,
    mass: float,
    block: IncidenceBlock,
    layer: Layer,
    incoming: dict[int, float],
    following: Layer | None,
    walk: Walk,
    settings: WalkSettings,
) -> None:
    """Pass one entity's mass on."""
    weights = _edge_weights(graph, block, settings)
    total = sum(weights)
    graph.edges += len(weights)
    if total <= 0.0:
        return
    scale = mass / total
    witnesses = layer.witnesses
    fact_mass, sure_mass = walk.fact_mass, walk.sure_mass
    # Columns side by side rather than by index, and a plain int for the kind: half of the walk's time was those.
    columns = zip(
        weights, block.chunks, block.kinds, block.relations, block.marks, block.confidences, block.ends, strict=True
    )
    start = 0
    for weight, chunk, kind, relation, mark, confidence, stop in columns:
        share = scale * weight
        is_fact = kind == _FACT
        witness = _witness((share, entity, relation, mark if is_fact else NO_FACT))
        if chunk in incoming:
            incoming[chunk] += share
            witnesses[chunk].append(witness)
        else:
            incoming[chunk] = share
            witnesses[chunk] = [witness]
        if is_fact:
            fact_mass[chunk] = fact_mass.get(chunk, 0.0) + share
            sure_mass[chunk] = sure_mass.get(chunk, 0.0) + share * confidence / MILLION
            if following is not None:
                takers = _takers(block, start, stop, walk.layers[0].entities, settings)
                if takers:
                    layer.over_facts[chunk] = layer.over_facts.get(chunk, 0.0) + share
                    passed = share * settings.continue_probability
                    for taker, part in takers:
                        _arrive(following, taker, _arrival((passed * part, chunk, relation, mark, entity)))
            start = stop


def _edge_weights(graph: Graph, block: IncidenceBlock, settings: WalkSettings) -> list[float]:
    """Return the transition weight of each hyperedge of a block."""
    fact_weight = settings.fact_weight / MILLION
    by_kind = (settings.about_weight, 0.0, settings.mention_weight)
    weights = [
        fact_weight * confidence if kind == _FACT else by_kind[kind]
        for kind, confidence in zip(block.kinds, block.confidences, strict=True)
    ]
    touching = graph.terms.touching(block.chunks)
    if touching:
        for at, chunk in enumerate(block.chunks):
            if chunk in touching:
                mask = block.marks[at] if block.kinds[at] == _MENTION else ANY_SENTENCE
                part = graph.terms.overlap(chunk, mask)
                weights[at] *= math.exp(settings.overlap_sharpness * part)
    return weights


def _takers(
    block: IncidenceBlock, start: int, stop: int, anchors: Container[int], settings: WalkSettings
) -> list[tuple[int, float]]:
    """Return a fact's other members with the part of its mass that each takes; parts sum to one. Anchors take none."""
    if stop - start == 1:  # a fact of two, the most frequent: its other member takes all
        member = block.members[start]
        is_taken = member >> 1 not in anchors and (settings.discovered_weight > 0.0 or not member & 1)
        return [(member >> 1, 1.0)] if is_taken else []
    weighed = []
    for member, log_degree in zip(block.members[start:stop], block.log_degrees[start:stop], strict=True):
        if member >> 1 not in anchors:
            weight = LOG_DEGREE_DAMPING[log_degree]
            weighed.append((member >> 1, weight * settings.discovered_weight if member & 1 else weight))
    total = sum(weight for _, weight in weighed)
    return [(member, weight / total) for member, weight in weighed] if total > 0.0 else []


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
    layer.spread = [chunk for chunk, _ in chosen]
    walk.residual += goes_on * sum(mass for _, mass in heaviest[len(chosen) :])
    for (chunk, mass), weighed in zip(chosen, graph.members(layer.spread), strict=True):
        walk.pushes += 1
        total = sum(member.weight for member in weighed)
        if total <= 0.0:
            continue
        scale = goes_on * mass / total
        for member in weighed:
            _arrive(following, member.entity, _arrival((scale * member.weight, chunk, 0, NO_FACT, FIRST_STAGE)))


def _arrive(layer: Layer, entity: int, arrival: Arrival) -> None:
    if entity in layer.entities:
        layer.entities[entity] += arrival[0]
        layer.arrivals[entity].append(arrival)
    else:
        layer.entities[entity] = arrival[0]
        layer.arrivals[entity] = [arrival]
