"""Signals that facts carry: how sure the pipeline was of them, and whether the question asks for their relation.

A chunk that no fact led to cannot carry them. It takes the mean of those that can, so that it neither gains nor loses
by having none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from latence_retrieval.walk import NO_FACT, Walk

__all__ = ["FactMass", "fact_signal", "facts_by_chunk"]

FactMass = tuple[int, int, float]
"""A fact, its relation, and the mass that it brought."""


def facts_by_chunk(walk: Walk) -> dict[int, list[FactMass]]:
    """Return for each chunk the facts that brought mass to it."""
    found: dict[int, dict[int, tuple[int, float]]] = {}
    for layer in walk.layers:
        for chunk, witnesses in layer.witnesses.items():
            for witness in witnesses:
                if witness.fact != NO_FACT:
                    facts = found.setdefault(chunk, {})
                    known = facts.get(witness.fact, (witness.relation, 0.0))[1]
                    facts[witness.fact] = (witness.relation, known + witness.mass)
    return {
        chunk: [(fact, relation, mass) for fact, (relation, mass) in facts.items()] for chunk, facts in found.items()
    }


def fact_signal(
    facts: Mapping[int, Sequence[FactMass]], value: Callable[[FactMass], float]
) -> Callable[[Sequence[int]], list[float]] | None:
    """Return a signal for chunks: the mean value of their facts, by mass; None where no chunk has any fact.

    Args:
        facts: by chunk.
        value: of one fact, in [0, 1].
    """
    own = {}
    for chunk, members in facts.items():
        total = sum(mass for _, _, mass in members)
        if total > 0.0:
            own[chunk] = sum(value(member) * member[2] for member in members) / total
    if not own:
        return None
    neutral = sum(own.values()) / len(own)
    return lambda chunks: [own.get(chunk, neutral) for chunk in chunks]
