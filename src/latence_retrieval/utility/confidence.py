"""Signals that facts carry: how sure the pipeline was of them, and whether the question asks for their relation.

A candidate that no fact led to cannot carry them. It takes the mean of the candidates that can, so that it neither
gains nor loses by having none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from latence_retrieval.sidecar.codec import MILLION
from latence_retrieval.walk import NO_FACT, Walk

__all__ = ["confidence_signal", "met_relations", "relation_signal"]

FactSignal = Callable[[Sequence[int]], list[float]]
"""Values for chunks, in order."""


def confidence_signal(walk: Walk) -> FactSignal | None:
    """Return what gives chunks' mean confidence of the facts that led to each, by mass; None where the walk met no fact."""
    if not walk.met_facts:
        return None

    def values(chunks: Sequence[int]) -> list[float]:
        place_of = {chunk: place for place, chunk in enumerate(chunks)}
        masses = [0.0] * len(chunks)
        sure = [0.0] * len(chunks)
        known = place_of.get
        for layer in walk.layers:
            for _, shares, edges in layer.pushed:
                facts = slice(edges.facts_from, edges.facts_to)
                rows = zip(edges.chunks[facts], shares[facts], edges.confidences[facts], strict=True)
                for chunk, share, confidence in rows:
                    place = known(chunk)
                    if place is not None:
                        masses[place] += share
                        sure[place] += share * confidence
        reached = zip(chunks, sure, masses, strict=True)
        return _filled({chunk: weighed / mass / MILLION for chunk, weighed, mass in reached if mass > 0.0}, chunks)

    return values


def met_relations(walk: Walk, chunks: Sequence[int]) -> dict[int, dict[int, float]]:
    """Return the mass that each relation's facts brought to each of `chunks` that any led to."""
    found: dict[int, dict[int, float]] = {}
    for layer in walk.layers:
        for chunk, witnesses in layer.witnesses_of(set(chunks)).items():
            for witness in witnesses:
                if witness.fact != NO_FACT:
                    relations = found.setdefault(chunk, {})
                    relations[witness.relation] = relations.get(witness.relation, 0.0) + witness.mass
    return found


def relation_signal(met: Mapping[int, Mapping[int, float]], probability: Mapping[int, float]) -> FactSignal | None:
    """Return each chunk's mean probability of its facts' relations, by mass; None where there is no fact."""
    own = {}
    for chunk, relations in met.items():
        total = sum(relations.values())
        if total > 0.0:
            own[chunk] = sum(mass * probability[relation] for relation, mass in relations.items()) / total
    return (lambda chunks: _filled(own, chunks)) if own else None


def _filled(own: Mapping[int, float], chunks: Sequence[int]) -> list[float]:
    neutral = sum([own[chunk] for chunk in sorted(own)]) / len(own) if own else 0.0
    return [own.get(chunk, neutral) for chunk in chunks]
