"""A naive walk: the whole transition matrix, multiplied until nothing moves. What the local push is held against."""

from __future__ import annotations

import math
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from latence_retrieval.query_view import Member
from latence_retrieval.settings import WalkSettings
from latence_retrieval.sidecar.codec import MILLION, EdgeKind, IncidenceBlock

ROUNDS = 160  # 0.8 ** 160 < 1e-15


@dataclass
class Edge:
    """One hyperedge as an entity sees it; `members` are (entity, is discovered, byte of its damping)."""

    kind: EdgeKind
    chunk: int
    mark: int = 0
    confidence: int = MILLION
    members: tuple[tuple[int, bool, int], ...] = ()


@dataclass
class DenseGraph:
    """A small hypergraph in plain lists; also what `push` reads."""

    edges_of: dict[int, list[Edge]]
    members_of: dict[int, list[tuple[int, float]]]
    anchors: frozenset[int]
    overlaps: dict[int, float] = field(default_factory=dict)
    degrees: dict[int, int] = field(default_factory=dict)
    edges: int = 0

    @property
    def terms(self) -> DenseGraph:
        return self

    def held(self, chunks: Sequence[int]) -> dict[int, list[tuple[float, int]]]:
        return {chunk: [(self.overlaps[chunk], 0)] for chunk in chunks if self.overlaps.get(chunk)}

    def overlap(self, held: list[tuple[float, int]], mask: int) -> float:
        return held[0][0]

    def members(self, chunks: Sequence[int]) -> list[list[Member]]:
        return [
            [
                Member(entity, weight, 0, False)
                for entity, weight in self.members_of.get(chunk, [])
                if entity not in self.anchors
            ]
            for chunk in chunks
        ]

    def degree(self, entity: int) -> int:
        return self.degrees.get(entity, len(self.edges_of.get(entity, [])))

    def incidences(self, entities: Sequence[int], *, max_degree: int | None = None) -> list[IncidenceBlock | None]:
        return [
            None if max_degree is not None and self.degree(entity) > max_degree else self._block(entity)
            for entity in entities
        ]

    def _block(self, entity: int) -> IncidenceBlock | None:
        edges = self.edges_of.get(entity)
        if not edges:
            return None
        ends, members, bytes_ = [], [], bytearray()
        for edge in edges:
            for member, is_discovered, byte in edge.members:
                members.append(member << 1 | is_discovered)
                bytes_.append(byte)
            ends.append(len(members))
        return IncidenceBlock(
            degree=self.degree(entity),
            facts_from=sum(edge.kind == EdgeKind.ABOUT for edge in edges),
            facts_to=sum(edge.kind != EdgeKind.MENTION for edge in edges),
            marks=array("I", [edge.mark for edge in edges]),
            chunks=array("I", [edge.chunk for edge in edges]),
            labels=[(4 if edge.kind == EdgeKind.FACT else 0) + int(edge.kind) for edge in edges],
            confidences=array("I", [edge.confidence for edge in edges]),
            dots=array("I", bytes(4 * len(edges))),
            ends=array("I", ends),
            members=array("I", members),
            log_degrees=bytes(bytes_),
        )


@dataclass
class Exact:
    """Activations after (practically) endless walking, and the mass that came to a halt where nothing goes on."""

    chunks: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    entities: dict[int, float] = field(default_factory=lambda: defaultdict(float))
    facts: dict[int, float] = field(default_factory=lambda: defaultdict(float))


def exact_walk(
    graph: DenseGraph, restart: Mapping[int, float], seeds: Mapping[int, float], settings: WalkSettings
) -> Exact:
    """Multiply the mass by the dense transition matrix, round after round, and add up what came where."""
    to_chunks, to_entities = _matrices(graph, settings)
    exact = Exact()
    entity_mass: dict[int, float] = dict(restart)
    chunk_mass: dict[int, float] = dict(seeds)  # mass that all members of the chunk take on
    for chunk, mass in seeds.items():
        exact.chunks[chunk] += mass
    for _ in range(ROUNDS):
        for entity, mass in entity_mass.items():
            exact.entities[entity] += mass
        next_entities: dict[int, float] = defaultdict(float)
        for entity, mass in entity_mass.items():
            for chunk, fact, part, takers in to_chunks.get(entity, ()):
                exact.chunks[chunk] += mass * part
                if fact >= 0:
                    exact.facts[fact] += mass * part
                over = (
                    settings.fact_weight / ((settings.fact_weight + settings.mention_weight) or 1.0) if takers else 0.0
                )
                for taker, share in takers:
                    next_entities[taker] += settings.continue_probability * mass * part * over * share
                chunk_mass[chunk] = chunk_mass.get(chunk, 0.0) + mass * part * (1.0 - over)
        for chunk, mass in chunk_mass.items():
            for entity, share in to_entities.get(chunk, ()):
                next_entities[entity] += settings.continue_probability * mass * share
        entity_mass, chunk_mass = next_entities, {}
    return exact


_Row = list[tuple[int, int, float, list[tuple[int, float]]]]


def _matrices(graph: DenseGraph, settings: WalkSettings) -> tuple[dict[int, _Row], dict[int, list[tuple[int, float]]]]:
    """Return entity -> (chunk, fact, part, takers) and chunk -> (entity, part), straight from the definition."""
    to_chunks: dict[int, _Row] = {}
    for entity, edges in graph.edges_of.items():
        if entity not in graph.anchors and graph.degree(entity) > settings.max_degree:
            continue
        weights = []
        for edge in edges:
            weight = {
                EdgeKind.ABOUT: settings.about_weight,
                EdgeKind.FACT: (settings.fact_weight + settings.mention_weight) * edge.confidence / MILLION,
                EdgeKind.MENTION: settings.mention_weight,
            }[edge.kind]
            weights.append(weight * math.exp(settings.overlap_sharpness * graph.overlaps.get(edge.chunk, 0.0)))
        total = sum(weights)
        if total > 0.0:
            to_chunks[entity] = [
                (
                    edge.chunk,
                    edge.mark if edge.kind == EdgeKind.FACT else -1,
                    weight / total,
                    _fact_takers(edge, graph.anchors, settings) if edge.kind == EdgeKind.FACT else [],
                )
                for edge, weight in zip(edges, weights, strict=True)
            ]
    to_entities = {}
    for chunk, members in graph.members_of.items():
        taken = [(entity, weight) for entity, weight in members if entity not in graph.anchors]
        total = sum(weight for _, weight in taken)
        if total > 0.0:
            to_entities[chunk] = [(entity, weight / total) for entity, weight in taken]
    return to_chunks, to_entities


def _fact_takers(edge: Edge, anchors: frozenset[int], settings: WalkSettings) -> list[tuple[int, float]]:
    weighed = [
        (member, (settings.discovered_weight if is_discovered else 1.0) / math.log(2.0 + math.expm1(byte / 12.0)))
        for member, is_discovered, byte in edge.members
        if member not in anchors
    ]
    total = sum(weight for _, weight in weighed)
    return [(member, weight / total) for member, weight in weighed] if total > 0.0 else []
