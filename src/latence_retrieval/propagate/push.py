"""A personalised random walk with restart over entities and hyperedges, by local push.

Andersen, Chung and Lang, "Local graph partitioning using PageRank vectors" (FOCS 2006): mass that has arrived at a
node and was not yet passed on is its residual; pushing a node books its residual and passes a part on. Cost follows
the pushes, not the size of the graph. Departures: residuals are pushed hop by hop, the largest first, so that each
hop's paths can be told (`Layer`), and a work limit stands beside the tolerance. What was not pushed is known: with
continue probability c, the booked masses of all chunks together fall short of the exact walk's by at most
`residual` / (1 - c), and so do those of all entities (tests hold it against a dense power iteration).

Transitions. From an entity: its chunks and facts, by kind (about, (fact + mention) times confidence, mention), times
exp(sharpness × overlap of the naming sentence with what the anchors leave unexplained of the question). From a fact:
its other members take fact / (fact + mention) of the mass, the rest stays with the chunk as if it had come by a mention.
From a chunk's hyperedge: its entities, by 1 / ln(2 + their chunks), less for discovered phrases, more for those named in
a sentence with such an overlap. Anchors take no mass back.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Container, Mapping, Sequence
from typing import Protocol, cast

from latence_retrieval.order import heaviest
from latence_retrieval.query_view import Held, Member
from latence_retrieval.settings import WalkSettings
from latence_retrieval.sidecar.codec import ANY_SENTENCE, LOG_DEGREE_DAMPING, MILLION, IncidenceBlock
from latence_retrieval.walk import FIRST_STAGE, NO_FACT, Arrival, Layer, Pushed, Walk, Witness, arrival

__all__ = ["Graph", "Overlap", "push"]

_NO_EDGES = IncidenceBlock(0, 0, 0, (), (), (), (), (), (), (), b"")

_Spread = list[tuple[int, float, Sequence[Member]]]
"""Chunks that pass mass on: each with the mass of a weight of 1, and its members."""


class Overlap(Protocol):
    """How much of the question's open terms a sentence holds."""

    def held(self, chunks: Sequence[int]) -> Mapping[int, Held]:
        """Return which of them each of `chunks` holds; for those that are left out the overlap is 0."""
        ...

    def overlap(self, held: Held, mask: int) -> float:
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
    walk = Walk({}, [], 0.0, 0)
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
    heavy = [entity for entity in heaviest(mass_of, limit) if mass_of[entity] >= settings.tolerance]
    walk.residual += _rest(mass_of, heavy)
    anchors = walk.layers[0].entities
    max_degree = None if layer is walk.layers[0] else settings.max_degree
    for entity, block in zip(heavy, graph.incidences(heavy, max_degree=max_degree), strict=True):
        # An entity without hyperedges has nothing to pass on to; a hub takes mass and keeps it, unless it is an anchor.
        if block is not None:
            walk.pushes += 1
            graph.edges += len(block.chunks)
            shares = _shares(graph.terms, block, mass_of[entity], settings)
            layer.pushed.append(Pushed(entity, shares, block if shares else _NO_EDGES))
            incoming, known = layer.chunks, layer.chunks.get
            for chunk, share in zip(block.chunks, shares, strict=False):
                incoming[chunk] = known(chunk, 0.0) + share
            if shares and following is not None and block.facts_from < block.facts_to:
                _pass_over_facts(block, shares, layer.over_facts, following.entities, anchors, settings)


def _rest(masses: Mapping[int, float], chosen: Sequence[int]) -> float:
    """Return the mass of those that were not chosen."""
    if len(chosen) == len(masses):
        return 0.0
    return max(0.0, sum(masses.values()) - sum([masses[number] for number in chosen]))


def _shares(terms: Overlap, block: IncidenceBlock, mass: float, settings: WalkSettings) -> Sequence[float]:
    """Divide an entity's mass among its hyperedges by transition weight; empty where all weights are zero."""
    facts_from, facts_to = block.facts_from, block.facts_to
    abouts, mentions = facts_from, len(block.chunks) - facts_to
    confidences = block.confidences[facts_from:facts_to]
    about, mention = settings.about_weight, settings.mention_weight
    fact = (settings.fact_weight + mention) / MILLION
    held = terms.held(block.chunks)
    if not held:
        total = about * abouts + fact * sum(confidences) + mention * mentions
        if total <= 0.0:
            return ()
        scale = mass / total
        per_fact = scale * fact
        return [scale * about] * abouts + [per_fact * sure for sure in confidences] + [scale * mention] * mentions
    weights = [about] * abouts + [fact * sure for sure in confidences] + [mention] * mentions
    for at, chunk in enumerate(block.chunks):
        if chunk in held:
            mask = block.marks[at] if at >= facts_to else ANY_SENTENCE
            weights[at] *= math.exp(settings.overlap_sharpness * terms.overlap(held[chunk], mask))
    total = sum(weights)
    if total <= 0.0:
        return ()
    scale = mass / total
    return [scale * weight for weight in weights]


def _pass_over_facts(
    block: IncidenceBlock,
    shares: Sequence[float],
    over_facts: dict[int, float],
    taking: dict[int, float],
    anchors: Container[int],
    settings: WalkSettings,
) -> None:
    """Pass what went over an entity's facts on to their other members."""
    over = _part_over_facts(settings)
    if over <= 0.0:
        return
    goes_on = settings.continue_probability * over
    discovered = settings.discovered_weight
    facts = slice(block.facts_from, block.facts_to)
    members, log_degrees, damping = block.members, block.log_degrees, LOG_DEGREE_DAMPING
    known_chunk, known_taker = over_facts.get, taking.get
    start = 0
    for share, chunk, stop in zip(shares[facts], block.chunks[facts], block.ends[facts], strict=True):
        if stop - start == 1:  # a fact of two, the most frequent: its other member takes all
            member = members[start]
            taker = member >> 1
            if taker not in anchors and (discovered or not member & 1):
                over_facts[chunk] = known_chunk(chunk, 0.0) + share * over
                taking[taker] = known_taker(taker, 0.0) + share * goes_on
        else:  # by weight, as `_takers` tells it; written out because most of the walk's time is spent here
            total = 0.0
            weighed = []
            for member, log_degree in zip(members[start:stop], log_degrees[start:stop], strict=True):
                taker = member >> 1
                if taker not in anchors:
                    weight = damping[log_degree] * discovered if member & 1 else damping[log_degree]
                    total += weight
                    weighed.append((taker, weight))
            if total > 0.0:
                over_facts[chunk] = known_chunk(chunk, 0.0) + share * over
                passed = share * goes_on / total
                for taker, weight in weighed:
                    taking[taker] = known_taker(taker, 0.0) + passed * weight
        start = stop


def _part_over_facts(settings: WalkSettings) -> float:
    """Return how much of a fact's mass its other members take."""
    return settings.fact_weight / (settings.fact_weight + settings.mention_weight) if settings.fact_weight else 0.0


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
    heavy = heaviest(direct, settings.max_chunk_pushes)
    chosen = layer.spread = [chunk for chunk in heavy if direct[chunk] >= settings.tolerance]
    walk.residual += goes_on * _rest(direct, chosen)
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
    goes_on = settings.continue_probability * _part_over_facts(settings)
    for source, shares, edges in before.pushed if goes_on else ():
        block = cast("IncidenceBlock", edges)
        places = [place for place, member in enumerate(block.members) if member in packed]
        # the facts that these members stand in, each once
        for at in dict.fromkeys([bisect_right(block.ends, place) for place in places]):
            start = block.ends[at - 1] if at else 0
            for taker, part in _takers(block, start, block.ends[at], anchors, settings):
                if taker in found:
                    mass = shares[at] * goes_on * part
                    told = (mass, block.chunks[at], block.labels[at] >> 2, block.marks[at], source)
                    found[taker].append(arrival(told))
    for chunk, scale, weighed in spread:
        for other in weighed:
            if other.entity in found:
                found[other.entity].append(arrival((scale * other.weight, chunk, 0, NO_FACT, FIRST_STAGE)))
    return found
