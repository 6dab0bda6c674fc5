"""Signals of the candidate chunks, and the utility that weighs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from latence_retrieval.results import Signal
from latence_retrieval.utility.redistribute import redistributed
from latence_retrieval.walk import Walk

__all__ = ["Utilities", "activation_signal", "relative", "weigh"]


@dataclass(slots=True)
class Utilities:
    """Utility by chunk, with each signal's values and its weight in this query."""

    scores: dict[int, float] = field(default_factory=dict)
    signals: dict[Signal, list[float]] = field(default_factory=dict)
    weights: dict[Signal, float] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)

    def of(self, chunk: int) -> dict[Signal, float]:
        """Return the signals of one chunk."""
        place = self.places[chunk]
        return {signal: values[place] for signal, values in self.signals.items()}


def activation_signal(walk: Walk, *, power: float, far_floor: float) -> Callable[[Sequence[int]], list[float]]:
    """Return what gives chunks' mass relative to the most, to a power; a chunk of a far hop counts at least by its hop.

    Mass halves with each hop, so that the end of a three-hop chain would stand below everything that the first hop
    touches. From the third hop on, a chunk has at least `far_floor` × its mass relative to the most in that hop.
    """

    def values(chunks: Sequence[int]) -> list[float]:
        found = relative(walk.chunks, chunks, power)
        for layer in walk.layers[2:]:
            if layer.chunks:
                far = [far_floor * value for value in relative(layer.chunks, chunks, power)]
                found = list(map(max, found, far))
        return found

    return values


def relative(masses: Mapping[int, float], chunks: Sequence[int], power: float) -> list[float]:
    """Return the masses of `chunks` divided by the largest of all, to a power; zero where none is above zero."""
    most = max(masses.values(), default=0.0)
    if most <= 0.0:
        return [0.0] * len(chunks)
    known = masses.get
    return [(known(chunk, 0.0) / most) ** power for chunk in chunks]  # masses are never below zero


def weigh(
    chunks: Sequence[int],
    signals: Mapping[Signal, Callable[[Sequence[int]], Sequence[float]] | None],
    weights: Mapping[Signal, float],
) -> Utilities:
    """Compute the utility of each candidate: the weighted mean of the signals that this query has.

    Args:
        chunks: the candidates.
        signals: for each signal, values in [0, 1] for all candidates, or None where the query does not have it.
        weights: the settings' weights; those of absent signals are redistributed.
    """
    present = {signal: values for signal, values in signals.items() if values is not None}
    utilities = Utilities(weights=redistributed(weights, present))
    totals = [0.0] * len(chunks)
    for signal, weight in utilities.weights.items():
        values = [0.0 if value < 0.0 else 1.0 if value > 1.0 else value for value in present[signal](chunks)]  # noqa: FURB136 - min and max take twice as long
        utilities.signals[signal] = values
        totals = [total + weight * value for total, value in zip(totals, values, strict=True)]
    utilities.scores = {chunk: min(1.0, total) for chunk, total in zip(chunks, totals, strict=True)}
    utilities.places = {chunk: place for place, chunk in enumerate(chunks)}
    return utilities
