"""Intervals, tests and groups."""

from __future__ import annotations

import itertools

import pytest

from eval.data.records import Question
from eval.stats.breakdown import groups_of

np = pytest.importorskip("numpy")

from eval.stats.bootstrap import bootstrap_interval  # noqa: E402 - after the skip
from eval.stats.permutation import permutation_p  # noqa: E402


def test_interval_of_equal_values_has_no_width() -> None:
    assert bootstrap_interval([0.5] * 9, resamples=200, confidence=0.95, seed=1) == (0.5, 0.5)


def test_interval_agrees_with_the_normal_approximation() -> None:
    values = np.random.default_rng(5).normal(size=400)
    low, high = bootstrap_interval(list(values), resamples=4000, confidence=0.95, seed=2)
    half = 1.96 * values.std() / 20
    assert low == pytest.approx(values.mean() - half, abs=0.015)
    assert high == pytest.approx(values.mean() + half, abs=0.015)


def test_interval_is_the_same_for_one_seed() -> None:
    first = bootstrap_interval([0.0, 1.0, 1.0], resamples=100, confidence=0.9, seed=3)
    assert first == bootstrap_interval([0.0, 1.0, 1.0], resamples=100, confidence=0.9, seed=3)


def test_permutation_p_matches_full_enumeration() -> None:
    deltas = [0.5, 0.25, -0.25, 1.0, 0.5, 0.25, -0.5, 0.75]
    observed = abs(sum(deltas))
    flips = list(itertools.product([1, -1], repeat=len(deltas)))
    exact = sum(abs(sum(s * d for s, d in zip(f, deltas, strict=True))) >= observed - 1e-12 for f in flips) / len(flips)
    assert permutation_p(deltas, permutations=40_000, seed=4) == pytest.approx(exact, abs=0.01)


def test_no_difference_gives_a_p_of_one() -> None:
    assert permutation_p([0.0, 0.0], permutations=100, seed=1) == 1.0


def _question(number: int, *, kind: str | None, source: str | None, gold: int = 2) -> Question:
    ids = tuple(f"g{item}" for item in range(gold))
    return Question(id=str(number), text="?", gold_ids=ids, row=number, type=kind, source=source)


def test_easy_source_is_reported_apart_where_it_is_mixed_in() -> None:
    questions = [
        _question(0, kind="bridge", source="a+TTS-project"),
        _question(1, kind="comparison", source="b", gold=4),
        _question(2, kind=None, source=None),
    ]
    groups = groups_of(questions)
    assert groups["source:TTS-project"] == [0]
    assert groups["source:other"] == [1, 2]
    assert groups["type:bridge"] == [0]
    assert groups["hops:4"] == [1]


def test_a_group_of_all_questions_is_left_out() -> None:
    assert groups_of([_question(0, kind="x", source=None), _question(1, kind="x", source=None)]) == {}
