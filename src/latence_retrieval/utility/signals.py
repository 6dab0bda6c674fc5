"""Signals of the candidate chunks, and the utility that weighs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from latence_retrieval.results import Signal
from latence_retrieval.utility.redistribute import redistributed

__all__ = ["Utilities", "relative", "weigh"]


@dataclass(slots=True)
class Utilities:
    """Utility by chunk, with each signal's values and its weight in this query."""

    scores: dict[int, float] = field(default_factory=dict)
    signals: dict[Signal, dict[int, float]] = field(default_factory=dict)
    weights: dict[Signal, float] = field(default_factory=dict)

    def of(self, chunk: int) -> dict[Signal, float]:
        """Return the signals of one chunk."""
        return {signal: values[chunk] for signal, values in self.signals.items()}


def relative(values: Mapping[int, float], power: float = 1.0) -> dict[int, float]:
    """Return values divided by the largest, to a power; all zero where none is above zero."""
    most = max(values.values(), default=0.0)
    if most <= 0.0:
        return dict.fromkeys(values, 0.0)
    return {key: max(0.0, value / most) ** power for key, value in values.items()}


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
    for signal in utilities.weights:
        values = present[signal](chunks)
        utilities.signals[signal] = {
            chunk: min(1.0, max(0.0, value)) for chunk, value in zip(chunks, values, strict=True)
        }
    parts = [(utilities.weights[signal], values) for signal, values in utilities.signals.items()]
    utilities.scores = {chunk: min(1.0, sum(weight * values[chunk] for weight, values in parts)) for chunk in chunks}
    return utilities
