"""Weights: one together for every subset of signals; absent is not zero; utilities stay in their range."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latence_retrieval.results import Signal
from latence_retrieval.settings import SignalWeights
from latence_retrieval.utility.cover import covering_order
from latence_retrieval.utility.redistribute import redistributed
from latence_retrieval.utility.signals import relative, weigh

SUBSETS = [set(subset) for size in range(len(Signal) + 1) for subset in combinations(Signal, size)]
WEIGHTS = st.fixed_dictionaries({signal: st.floats(0.0, 100.0) for signal in Signal})


@given(WEIGHTS)
@settings(max_examples=60)
def test_weights_sum_to_one_for_every_subset_of_signals(weights: dict[Signal, float]) -> None:
    for present in SUBSETS:
        shared = redistributed(weights, present)
        assert set(shared) == present
        assert math.isclose(sum(shared.values()), 1.0 if present else 0.0, abs_tol=1e-9)
        assert list(shared) == [signal for signal in Signal if signal in present]
        if sum(weights[signal] for signal in present) > 0.0:
            for left, right in combinations(present, 2):  # proportions are kept
                assert shared[left] * weights[right] == pytest.approx(shared[right] * weights[left], abs=1e-9)


def test_the_default_weights_cover_every_signal() -> None:
    assert set(SignalWeights.model_fields) == {signal.value for signal in Signal}


@given(st.sampled_from(SUBSETS), WEIGHTS, st.lists(st.floats(-1.0, 2.0), min_size=3, max_size=3))
@settings(max_examples=100)
def test_utilities_are_the_weighted_mean_of_what_is_present(
    present: set[Signal], weights: dict[Signal, float], values: list[float]
) -> None:
    chunks = [5, 3, 9]
    signals = {signal: (lambda asked: list(values)) if signal in present else None for signal in Signal}
    utilities = weigh(chunks, signals, weights)
    assert set(utilities.signals) == set(utilities.weights) == present
    for chunk, value in zip(chunks, values, strict=True):
        expected = min(1.0, max(0.0, value)) if present else 0.0
        assert utilities.scores[chunk] == pytest.approx(expected)
        assert 0.0 <= utilities.scores[chunk] <= 1.0


def test_a_signal_of_zeros_takes_its_weight_and_an_absent_one_gives_it_up() -> None:
    weights = dict.fromkeys(Signal, 1.0)
    ones, zeros = (lambda chunks: [1.0] * len(chunks)), (lambda chunks: [0.0] * len(chunks))
    absent = weigh([1], {Signal.ACTIVATION: ones, Signal.RELQ: None}, weights)
    zero = weigh([1], {Signal.ACTIVATION: ones, Signal.RELQ: zeros}, weights)
    assert absent.scores[1] == 1.0
    assert zero.scores[1] == 0.5
    assert absent.of(1) == {Signal.ACTIVATION: 1.0}
    assert zero.of(1) == {Signal.ACTIVATION: 1.0, Signal.RELQ: 0.0}


@given(st.dictionaries(st.integers(0, 9), st.floats(0.0, 1e6)), st.floats(0.1, 1.0))
def test_relative_values_lie_between_zero_and_one_and_keep_the_order(values: dict[int, float], power: float) -> None:
    found = dict(zip(values, relative(values, list(values), power), strict=True))
    assert relative(values, [99], power) == [0.0]
    assert all(0.0 <= value <= 1.0 for value in found.values())
    if max(values.values(), default=0.0) > 0.0:
        assert max(found.values()) == 1.0
    for left, right in combinations(values, 2):
        if values[left] < values[right]:
            assert found[left] <= found[right]


@given(
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=12),
    st.lists(st.sets(st.sampled_from("abcd")), min_size=12, max_size=12),
    st.floats(0.0, 1.0),
    st.integers(0, 6),
)
@settings(max_examples=100)
def test_covering_order_is_the_naive_greedy_choice(
    scores: list[float], held: list[set[str]], coverage: float, depth: int
) -> None:
    idf = {"a": 1.0, "b": 2.0, "c": 0.5, "d": 4.0}
    ordered = sorted(range(len(scores)), key=lambda chunk: (-scores[chunk], chunk))
    found = covering_order(
        ordered, dict(enumerate(scores)), idf, lambda chunk: sorted(held[chunk]), coverage=coverage, depth=depth
    )
    assert sorted(chunk for chunk, _ in found) == sorted(ordered)
    if coverage == 0.0:
        assert [chunk for chunk, _ in found] == ordered
        return
    pool, covered = ordered[: 2 * depth], set[str]()
    for chunk, worth in found[: min(depth, len(pool))]:
        worths = {
            other: scores[other] + sum(coverage * idf[term] / 7.5 for term in held[other] - covered) for other in pool
        }
        assert worth == pytest.approx(worths[chunk])
        assert worths[chunk] == pytest.approx(max(worths.values()))
        pool.remove(chunk)
        covered |= held[chunk]
    rest = [chunk for chunk, _ in found[min(depth, len(ordered)) :]]
    assert rest == sorted(rest, key=lambda chunk: (-scores[chunk], chunk))
