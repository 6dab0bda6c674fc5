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
from bisect import bisect_right
from collections.abc import Container, Mapping, Sequence
from typing import Protocol, cast

from latence_retrieval.order import heaviest_first
from latence_retrieval.query_view import Member
from latence_retrieval.settings import WalkSettings
from latence_retrieval.sidecar.codec import ANY_SENTENCE, LOG_DEGREE_DAMPING, MILLION, IncidenceBlock
from latence_retrieval.walk import FIRST_STAGE, NO_FACT, Arrival, Layer, Pushed, Walk, Witness

__all__ = ["Graph", "Overlap", "push"]

_NO_EDGES = IncidenceBlock(0, (), (), (), (), (), (), (), b"")

_Spread = list[tuple[int, float, Sequence[Member]]]
"""Chunks that pass mass on: each with the mass of a weight of 1, and its members."""


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

    def incidences(self, entities: Sequence[int], *, max_degree: int | None) -> list[IncidenceBlock | None]:
        """Return the strongest hyperedges of each entity; None where it has none, or more than `max_degree`."""
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
    walk = Walk({}, {}, {}, [], 0.0, 0)
    layer = Layer(dict(restart), chunks=dict(seeds))
    for chunk, mass in seeds.items():
        layer.witnesses[chunk] = [Witness(mass, FIRST_STAGE, 0, NO_FACT)]
    goes_on = settings.continue_probability
    before: tuple[Layer, _Spread] | None = None
    for hop in range(settings.max_hops):
        walk.layers.append(layer)
        is_last = hop + 1 == settings.max_hops or goes_on == 0.0
        following = None if is_last else Layer({})
        # Each further hop has less mass to tell apart, and half the work.
        limit = settings.max_anchor_pushes if hop == 0 else settings.max_entity_pushes >> (hop - 1)
        _push_entities(graph, layer, following, walk, settings, limit=limit)
        if before is not None:
            layer.arrivals = _arrivals(layer, *before, walk.layers[0].entities, settings)
        if walk.chunks:
            for chunk, mass in layer.chunks.items():
                walk.chunks[chunk] = walk.chunks.get(chunk, 0.0) + mass
        else:
            walk.chunks.update(layer.chunks)
        if following is None:
            walk.residual += goes_on * sum(layer.chunks.values())
            break
        before = layer, _push_chunks(graph, layer, following.entities, walk, settings)
        if not following.entities:
            break
        layer = following
    return walk


def _push_entities(
    graph: Graph,
    layer: Layer,
    following: Layer | None,
    walk: Walk,
    settings: WalkSettings,
    *,
    limit: int,
) -> None:
    """Pass the entities' mass on to chunks and, over facts, to other entities (not in the last hop)."""
    mass_of = layer.entities
    ordered = heaviest_first(mass_of)
    heavy = [entity for entity in ordered[:limit] if mass_of[entity] >= settings.tolerance]
    walk.residual += sum([mass_of[entity] for entity in ordered[len(heavy) :]])
    anchors = walk.layers[0].entities
    max_degree = None if layer is walk.layers[0] else settings.max_degree
    for entity, block in zip(heavy, graph.incidences(heavy, max_degree=max_degree), strict=True):
        # An entity without hyperedges has nothing to pass on to; a hub takes mass and keeps it, unless it is an anchor.
        if block is not None:
            walk.pushes += 1
            pushed = _push_entity(graph, entity, mass_of[entity], block, layer, walk, settings)
            layer.pushed.append(pushed)
            if following is not None and pushed.facts_from < pushed.facts_to:
                _pass_over_facts(pushed, block, layer.over_facts, following.entities, anchors, settings)


def _push_entity(
    graph: Graph,
    entity: int,
    mass: float,
    block: IncidenceBlock,
    layer: Layer,
    walk: Walk,
    settings: WalkSettings,
) -> Pushed:
    """Pass one entity's mass on to the chunks of its hyperedges."""
    facts_from, facts_to = block.bounds()
    weights = _edge_weights(graph, block, facts_from, facts_to, settings)
    total = sum(weights)
    graph.edges += len(weights)
    if total <= 0.0:
        return Pushed(entity, (), _NO_EDGES, 0, 0)
    scale = mass / total
    shares = [scale * weight for weight in weights]
    incoming, known = layer.chunks, layer.chunks.get
    for chunk, share in zip(block.chunks, shares, strict=True):
        incoming[chunk] = known(chunk, 0.0) + share
    if facts_from < facts_to:
        fact_mass, sure_mass = walk.fact_mass, walk.sure_mass
        known_fact, known_sure = fact_mass.get, sure_mass.get
        facts = slice(facts_from, facts_to)
        for chunk, share, confidence in zip(block.chunks[facts], shares[facts], block.confidences[facts], strict=True):
            fact_mass[chunk] = known_fact(chunk, 0.0) + share
            sure_mass[chunk] = known_sure(chunk, 0.0) + share * confidence / MILLION
    return Pushed(entity, shares, block, facts_from, facts_to)


def _edge_weights(
    graph: Graph, block: IncidenceBlock, facts_from: int, facts_to: int, settings: WalkSettings
) -> list[float]:
    """Return the transition weight of each hyperedge of a block."""
    fact_weight = settings.fact_weight / MILLION
    weights = [settings.about_weight] * facts_from
    weights += [fact_weight * confidence for confidence in block.confidences[facts_from:facts_to]]
    weights += [settings.mention_weight] * (len(block.chunks) - facts_to)
    touching = graph.terms.touching(block.chunks)
    if touching:
        for at, chunk in enumerate(block.chunks):
            if chunk in touching:
                mask = block.marks[at] if at >= facts_to else ANY_SENTENCE
                part = graph.terms.overlap(chunk, mask)
                weights[at] *= math.exp(settings.overlap_sharpness * part)
    return weights


def _pass_over_facts(
    pushed: Pushed,
    block: IncidenceBlock,
    over_facts: dict[int, float],
    taking: dict[int, float],
    anchors: Container[int],
    settings: WalkSettings,
) -> None:
    """Pass what went over an entity's facts on to their other members."""
    goes_on = settings.continue_probability
    facts = slice(pushed.facts_from, pushed.facts_to)
    members = block.members
    takes_discovered = settings.discovered_weight > 0.0
    start = 0
    for share, chunk, stop in zip(pushed.shares[facts], block.chunks[facts], block.ends[facts], strict=True):
        if stop - start == 1:  # a fact of two, the most frequent, written out: its other member takes all
            member = members[start]
            taker = member >> 1
            if taker not in anchors and (takes_discovered or not member & 1):
                over_facts[chunk] = over_facts.get(chunk, 0.0) + share
                taking[taker] = taking.get(taker, 0.0) + share * goes_on
        elif takers := _takers(block, start, stop, anchors, settings):
            over_facts[chunk] = over_facts.get(chunk, 0.0) + share
            passed = share * goes_on
            for taker, part in takers:
                taking[taker] = taking.get(taker, 0.0) + passed * part
        start = stop


def _takers(
    block: IncidenceBlock, start: int, stop: int, anchors: Container[int], settings: WalkSettings
) -> list[tuple[int, float]]:
    """Return a fact's other members with the part of its mass that each takes; parts sum to one. Anchors take none."""
    weighed: list[tuple[int, float]] = []
    total = 0.0
    for at in range(start, stop):
        member = block.members[at]
        taker = member >> 1
        if taker not in anchors:
            weight = LOG_DEGREE_DAMPING[block.log_degrees[at]]
            if member & 1:
                weight *= settings.discovered_weight
            total += weight
            weighed.append((taker, weight))
    return [(taker, weight / total) for taker, weight in weighed] if total > 0.0 else []


def _push_chunks(
    graph: Graph,
    layer: Layer,
    taking: dict[int, float],
    walk: Walk,
    settings: WalkSettings,
) -> _Spread:
    """Pass the heaviest chunks' mass on to the entities that stand in them."""
    goes_on = settings.continue_probability
    direct = dict(layer.chunks)
    for chunk, mass in layer.over_facts.items():
        direct[chunk] -= mass
    heaviest = heaviest_first(direct)
    chosen = [chunk for chunk in heaviest[: settings.max_chunk_pushes] if direct[chunk] >= settings.tolerance]
    layer.spread = chosen
    walk.residual += goes_on * sum([direct[chunk] for chunk in heaviest[len(chosen) :]])
    walk.pushes += len(chosen)
    spread: _Spread = []
    for chunk, weighed in zip(chosen, graph.members(chosen), strict=True):
        total = sum([member.weight for member in weighed])
        if total <= 0.0:
            continue
        scale = goes_on * direct[chunk] / total
        spread.append((chunk, scale, weighed))
        for member in weighed:
            entity = member.entity
            taking[entity] = taking.get(entity, 0.0) + scale * member.weight
    return spread


def _arrivals(
    layer: Layer, before: Layer, spread: _Spread, anchors: Container[int], settings: WalkSettings
) -> dict[int, list[Arrival]]:
    """Return how each pushed entity of a hop was reached from the hop before, in the order in which its mass came.

    Told for the few that passed mass on, after the event: ten times as many are reached.
    """
    found: dict[int, list[Arrival]] = {pushed.entity: [] for pushed in layer.pushed}
    packed = {entity << 1 for entity in found} | {entity << 1 | 1 for entity in found}
    goes_on = settings.continue_probability
    for source, shares, edges, _, _ in before.pushed:
        block = cast("IncidenceBlock", edges)
        if packed.isdisjoint(block.members):
            continue
        last = -1
        for place, member in enumerate(block.members):
            if member in packed:
                at = bisect_right(block.ends, place)  # the fact that the member stands in
                if at == last:
                    continue  # told with its first member
                last = at
                start = block.ends[at - 1] if at else 0
                for taker, part in _takers(block, start, block.ends[at], anchors, settings):
                    if taker in found:
                        mass = shares[at] * goes_on * part
                        arrival = Arrival(mass, block.chunks[at], block.labels[at] >> 2, block.marks[at], source)
                        found[taker].append(arrival)
    for chunk, scale, weighed in spread:
        for other in weighed:
            if other.entity in found:
                found[other.entity].append(Arrival(scale * other.weight, chunk, 0, NO_FACT, FIRST_STAGE))
    return found
