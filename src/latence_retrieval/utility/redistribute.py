"""Weights of absent signals go to the present ones in proportion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from latence_retrieval.results import Signal

__all__ = ["redistributed"]


def redistributed(weights: Mapping[Signal, float], present: Iterable[Signal]) -> dict[Signal, float]:
    """Return the weights of the present signals, scaled to sum to one.

    Args:
        weights: a weight of at least zero for each signal.
        present: which signals this query has; a signal that is absent is no signal of value zero.

    Returns:
        A weight per present signal, in the order of `Signal`; empty where none is present. Equal weights where
        every present signal has weight zero, so that the sum is one all the same.
    """
    chosen = set(present)
    kept = {signal: weights[signal] for signal in Signal if signal in chosen}
    total = sum(kept.values())
    if total <= 0.0:
        return {signal: 1.0 / len(kept) for signal in kept}
    return {signal: weight / total for signal, weight in kept.items()}
