"""What the walk leaves behind, hop by hop: the common language of propagation and chains."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

__all__ = ["FIRST_STAGE", "NO_FACT", "Arrival", "Layer", "Pushed", "Walk", "Witness"]

FIRST_STAGE = -1
"""Stands for the entity where a first-stage hit, not an entity, brought the mass."""

NO_FACT = -1
"""Stands for the fact where mass came over a chunk's mentions."""


class Witness(NamedTuple):
    """Mass that came to a chunk: from which entity (-1: the first stage), over which relation, by which fact (-1: none)."""

    mass: float
    entity: int
    relation: int
    fact: int


class Arrival(NamedTuple):
    """Mass that came to an entity: over which chunk, by which relation and fact, from which entity for a fact (else -1)."""

    mass: float
    chunk: int
    relation: int
    fact: int
    source: int


class Edges(Protocol):
    """Hyperedges side by side: chunk, relation and mark (a fact's number) of each, first the chunks about the entity."""

    @property
    def chunks(self) -> Sequence[int]:
        """The chunk of each."""
        ...

    @property
    def relations(self) -> Sequence[int]:
        """The relation of each."""
        ...

    @property
    def marks(self) -> Sequence[int]:
        """The fact's number of each that is a fact."""
        ...


class Pushed(NamedTuple):
    """An entity that passed mass on: over which hyperedges, how much over each, and from where to where they are facts."""

    entity: int
    shares: Sequence[float]
    edges: Edges
    facts_from: int
    facts_to: int


@dataclass(slots=True)
class Layer:
    """One hop: the entities whose mass is passed on, how those were reached, and the chunks that it came to."""

    entities: dict[int, float]
    arrivals: dict[int, list[Arrival]] = field(default_factory=dict)
    """How each entity that passed mass on was reached; the others lead nowhere, so that nobody asks."""
    chunks: dict[int, float] = field(default_factory=dict)
    witnesses: dict[int, list[Witness]] = field(default_factory=dict)
    """Those of the first stage's hits; `witnesses_of` adds those that the pushed entities are."""
    pushed: list[Pushed] = field(default_factory=list)
    """The entities that passed mass on, heaviest first."""
    spread: list[int] = field(default_factory=list)
    """The chunks that passed mass on to their entities, heaviest first."""
    over_facts: dict[int, float] = field(default_factory=dict)
    """Mass of a chunk that came by facts: their own members take it on, not all that the chunk mentions."""

    def witnesses_of(self, chunks: AbstractSet[int]) -> dict[int, list[Witness]]:
        """Return how mass came to those of `chunks` that any came to, in the order in which it came.

        Read off the pushes when asked: of some hundred chunks that a hop reaches, a dozen are ever asked about.
        """
        found = {chunk: list(self.witnesses[chunk]) for chunk in self.witnesses.keys() & chunks}
        for entity, shares, edges, facts_from, facts_to in self.pushed:
            if chunks.isdisjoint(edges.chunks):
                continue
            for at, chunk in enumerate(edges.chunks):
                if chunk in chunks:
                    fact = edges.marks[at] if facts_from <= at < facts_to else NO_FACT
                    found.setdefault(chunk, []).append(Witness(shares[at], entity, edges.relations[at], fact))
        return found


@dataclass(slots=True)
class Walk:
    """What the walk left where.

    Attributes:
        chunks, entities: activation by number.
        layers: hop by hop, for chains.
        fact_mass, sure_mass: by chunk, the mass that facts brought, and the same times their confidence.
        residual: mass that arrived at an entity or a chunk and was not passed on although it could have been.
        pushes: entities and chunks pushed.
    """

    chunks: dict[int, float]
    entities: dict[int, float]
    fact_mass: dict[int, float]
    sure_mass: dict[int, float]
    layers: list[Layer]
    residual: float
    pushes: int
