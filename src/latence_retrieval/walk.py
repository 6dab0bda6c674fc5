"""What the walk leaves behind, hop by hop: the common language of propagation and chains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["FIRST_STAGE", "NO_FACT", "Arrival", "Layer", "Walk", "Witness"]

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


@dataclass(slots=True)
class Layer:
    """One hop: the entities whose mass is passed on, how each was reached, and the chunks that it came to."""

    entities: dict[int, float]
    arrivals: dict[int, list[Arrival]] = field(default_factory=dict)
    chunks: dict[int, float] = field(default_factory=dict)
    witnesses: dict[int, list[Witness]] = field(default_factory=dict)
    pushed: list[int] = field(default_factory=list)
    """The entities that passed mass on, heaviest first."""
    spread: list[int] = field(default_factory=list)
    """The chunks that passed mass on to their entities, heaviest first."""
    over_facts: dict[int, float] = field(default_factory=dict)
    """Mass of a chunk that came by facts: their own members take it on, not all that the chunk mentions."""


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
