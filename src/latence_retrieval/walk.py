"""What the walk leaves behind, hop by hop: the common language of propagation and chains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, Protocol, cast

__all__ = ["FIRST_STAGE", "NO_FACT", "Arrival", "Layer", "Pushed", "Walk", "Witness", "arrival"]

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


_witness = cast("Callable[[tuple[float, int, int, int]], Witness]", partial(tuple.__new__, Witness))  # thrice as quick
arrival = cast("Callable[[tuple[float, int, int, int, int]], Arrival]", partial(tuple.__new__, Arrival))
"""Make an `Arrival` of its fields."""


class Edges(Protocol):
    """Hyperedges side by side: chunk, label (relation * 4 + kind) and mark (of a fact, its number) of each."""

    @property
    def facts_from(self) -> int:
        """Where the facts begin."""
        ...

    @property
    def facts_to(self) -> int:
        """Where they end."""
        ...

    @property
    def chunks(self) -> Sequence[int]:
        """The chunk of each."""
        ...

    @property
    def confidences(self) -> Sequence[int]:
        """The confidence of each, in millionths."""
        ...

    @property
    def labels(self) -> Sequence[int]:
        """The label of each."""
        ...

    @property
    def marks(self) -> Sequence[int]:
        """The fact's number of each that is a fact."""
        ...


class Pushed(NamedTuple):
    """An entity that passed mass on: over which hyperedges, and how much over each."""

    entity: int
    shares: Sequence[float]
    edges: Edges


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
        for entity, shares, edges in self.pushed:
            if chunks.isdisjoint(edges.chunks):
                continue
            facts_from, facts_to = edges.facts_from, edges.facts_to
            for at, chunk in enumerate(edges.chunks):
                if chunk in chunks:
                    fact = edges.marks[at] if facts_from <= at < facts_to else NO_FACT
                    witness = _witness((shares[at], entity, edges.labels[at] >> 2, fact))
                    if chunk in found:
                        found[chunk].append(witness)
                    else:
                        found[chunk] = [witness]
        return found


@dataclass(slots=True)
class Walk:
    """What the walk left where.

    Attributes:
        chunks: activation by number.
        layers: hop by hop, for chains.
        residual: mass that arrived at an entity or a chunk and was not passed on although it could have been.
        pushes: entities and chunks pushed.
    """

    chunks: dict[int, float]
    layers: list[Layer]
    residual: float
    pushes: int

    @property
    def met_facts(self) -> bool:
        """Whether any mass went over a fact."""
        return any(edges.facts_from < edges.facts_to for layer in self.layers for _, _, edges in layer.pushed)

    @property
    def entities(self) -> dict[int, float]:
        """Activation of entities by number."""
        booked: dict[int, float] = {}
        for layer in self.layers:
            for entity, mass in layer.entities.items():
                booked[entity] = booked.get(entity, 0.0) + mass
        return booked
