"""The local push against the naive walk of `walk_oracle`: never above it, and short of it by no more than it says."""

from __future__ import annotations

import importlib.util
import sys
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latence_retrieval.propagate.push import push
from latence_retrieval.settings import WalkSettings
from latence_retrieval.sidecar.codec import MILLION, EdgeKind


def _beside(name: str) -> Any:
    """Load a module from this folder: tests are imported by path, so their folder is on no search path."""
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


oracle = _beside("walk_oracle")

SEEDS = st.integers(0, 2**32 - 1)
WEIGHTS = st.floats(0.01, 2.0)


def _graph(dice: Random, *, dead_ends: bool) -> Any:
    """Return a graph with about, fact and mention edges; with `dead_ends`, some nodes lead nowhere or are hubs."""
    anchors = frozenset(dice.sample(range(10), dice.randint(1, 3)))
    others = [entity for entity in range(10) if entity not in anchors]
    members_of = {}
    for chunk in range(8):
        members = {dice.randrange(10): dice.uniform(0.01, 2.0) for _ in range(dice.randint(0, 4))}
        if not dead_ends and not set(members) - anchors:
            members[dice.choice(others)] = 1.0
        members_of[chunk] = list(members.items())
    edges_of: dict[int, list[Any]] = {}
    number = 0
    for entity in range(10):
        edges = []
        for _ in range(dice.randint(0 if dead_ends else 1, 5)):
            edge = oracle.Edge(dice.choice(list(EdgeKind)), dice.randrange(8))
            if edge.kind == EdgeKind.FACT:
                number += 1
                edge.mark = number
                edge.confidence = dice.choice([MILLION, dice.randint(0 if dead_ends else 1, MILLION)])
                who = dice.sample([other for other in range(10) if other != entity], dice.randint(0, 3))
                edge.members = tuple((other, dice.random() < 0.5, dice.randrange(60)) for other in who)
            edges.append(edge)
        edges.sort(key=lambda edge: edge.kind)
        if edges:
            edges_of[entity] = edges
    return oracle.DenseGraph(
        edges_of,
        members_of,
        anchors,
        overlaps={dice.randrange(8): dice.random() for _ in range(3)},
        degrees={dice.randrange(10): dice.choice([1, 300]) for _ in range(3)} if dead_ends else {},
    )


def _start(dice: Random, graph: Any) -> tuple[dict[int, float], dict[int, float]]:
    """Return restart masses on all anchors and seeds on some chunks, one together."""
    restart = {entity: dice.uniform(0.01, 2.0) for entity in sorted(graph.anchors)}
    seeds = {dice.randrange(8): dice.uniform(0.01, 2.0) for _ in range(dice.randint(0, 3))}
    total = sum(restart.values()) + sum(seeds.values())
    return {e: m / total for e, m in restart.items()}, {c: m / total for c, m in seeds.items()}


def _drawn(seed: int, *, dead_ends: bool = True) -> tuple[Any, dict[int, float], dict[int, float]]:
    dice = Random(seed)
    graph = _graph(dice, dead_ends=dead_ends)
    return graph, *_start(dice, graph)


WALKS = st.builds(
    WalkSettings,
    continue_probability=st.floats(0.0, 0.8),
    about_weight=WEIGHTS,
    fact_weight=WEIGHTS,
    mention_weight=WEIGHTS,
    discovered_weight=st.sampled_from([0.0, 0.5, 1.0]),
    max_hops=st.integers(1, 6),
    max_anchor_pushes=st.integers(0, 4),
    max_chunk_pushes=st.integers(0, 9),
    max_entity_pushes=st.integers(0, 10),
    tolerance=st.sampled_from([0.0, 1e-6, 0.05]),
)


@settings(max_examples=120, deadline=None)
@given(SEEDS, WALKS)
def test_push_falls_short_of_the_exact_walk_by_no_more_than_its_residual_says(seed: int, limits: WalkSettings) -> None:
    graph, restart, seeds = _drawn(seed)
    walk = push(graph, restart, seeds, limits)
    exact = oracle.exact_walk(graph, restart, seeds, limits)
    allowed = walk.residual / (1.0 - limits.continue_probability) + 1e-9
    for booked, true in ((walk.chunks, exact.chunks), (walk.entities, exact.entities)):
        assert all(mass <= true[number] + 1e-9 for number, mass in booked.items())
        assert sum(true.values()) - sum(booked.values()) <= allowed


@settings(max_examples=80, deadline=None)
@given(SEEDS, WALKS)
def test_no_mass_is_lost_where_every_node_leads_on(seed: int, limits: WalkSettings) -> None:
    graph, restart, seeds = _drawn(seed, dead_ends=False)
    walk = push(graph, restart, seeds, limits)
    stopped = (1.0 - limits.continue_probability) * sum(walk.chunks.values())
    assert stopped + walk.residual == pytest.approx(1.0, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(SEEDS)
def test_push_without_limits_is_the_exact_walk(seed: int) -> None:
    graph, restart, seeds = _drawn(seed)
    limits = WalkSettings(
        max_hops=60,
        max_anchor_pushes=99,
        max_chunk_pushes=99,
        max_entity_pushes=99 << 60,  # halved with each hop
        tolerance=0.0,
        mention_weight=0.3,
    )
    walk = push(graph, restart, seeds, limits)
    exact = oracle.exact_walk(graph, restart, seeds, limits)
    for booked, true in ((walk.chunks, exact.chunks), (walk.entities, exact.entities)):
        for number, mass in true.items():
            assert booked.get(number, 0.0) == pytest.approx(mass, abs=1e-9)


@settings(max_examples=50, deadline=None)
@given(SEEDS, WALKS)
def test_layers_account_for_every_arrival_and_anchors_take_no_mass_back(seed: int, limits: WalkSettings) -> None:
    graph, restart, seeds = _drawn(seed)
    walk = push(graph, restart, seeds, limits)
    chunk_totals: dict[int, float] = defaultdict(float)
    for depth, layer in enumerate(walk.layers):
        witnesses = layer.witnesses_of(layer.chunks.keys())
        for chunk, mass in layer.chunks.items():
            chunk_totals[chunk] += mass
            assert sum(witness.mass for witness in witnesses[chunk]) == pytest.approx(mass)
        if depth:
            assert not graph.anchors & layer.entities.keys()
            for pushed in layer.pushed:
                arrived = sum(arrival.mass for arrival in layer.arrivals[pushed.entity])
                assert arrived == pytest.approx(layer.entities[pushed.entity])
    assert walk.chunks == pytest.approx(chunk_totals)


def test_nothing_is_walked_without_mass() -> None:
    graph = oracle.DenseGraph({}, {}, frozenset())
    walk = push(graph, {}, {}, WalkSettings())
    assert (walk.chunks, walk.entities, walk.residual) == ({}, {}, 0.0)
