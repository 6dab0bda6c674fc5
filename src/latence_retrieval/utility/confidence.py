"""Signals that facts carry: how sure the pipeline was of them, and whether the question asks for their relation.

A chunk that no fact led to cannot carry them. It takes the mean of those that can, so that it neither gains nor loses
by having none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from latence_retrieval.walk import NO_FACT, Walk

__all__ = ["confidence_signal", "met_relations", "relation_signal"]

FactSignal = Callable[[Sequence[int]], list[float]]
"""Values for chunks, in order."""


def confidence_signal(walk: Walk) -> FactSignal | None:
    """Return each chunk's mean confidence of the facts that led to it, by mass; None where the walk met no fact."""
    sure = walk.sure_mass
    return _signal({chunk: sure[chunk] / mass for chunk, mass in walk.fact_mass.items() if mass > 0.0})


def met_relations(walk: Walk) -> dict[int, dict[int, float]]:
    """Return for each chunk the mass that each relation's facts brought."""
    found: dict[int, dict[int, float]] = {}
    for layer in walk.layers:
        for chunk, witnesses in layer.witnesses_of(walk.fact_mass.keys()).items():
            relations = found.setdefault(chunk, {})
            for witness in witnesses:
                if witness.fact != NO_FACT:
                    relations[witness.relation] = relations.get(witness.relation, 0.0) + witness.mass
    return found


def relation_signal(met: Mapping[int, Mapping[int, float]], probability: Mapping[int, float]) -> FactSignal | None:
    """Return each chunk's mean probability of its facts' relations, by mass; None where there is no fact."""
    own = {}
    for chunk, relations in met.items():
        total = sum(relations.values())
        if total > 0.0:
            own[chunk] = sum(mass * probability[relation] for relation, mass in relations.items()) / total
    return _signal(own)


def _signal(own: Mapping[int, float]) -> FactSignal | None:
    if not own:
        return None
    neutral = sum([own[chunk] for chunk in sorted(own)]) / len(own)
    return lambda chunks: [own.get(chunk, neutral) for chunk in chunks]
