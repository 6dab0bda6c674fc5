"""Paths read off a walk's layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from latence_retrieval.chains.search import JOIN_BONUS, Path, best_chains, find_paths
from latence_retrieval.walk import FIRST_STAGE, NO_FACT, Arrival, Layer, Walk, Witness

A, B, X, Y = 1, 2, 10, 11
UTILITY = {100: 0.8, 101: 0.4, 102: 0.2}


def walked(*layers: Layer) -> Walk:
    return Walk(chunks={}, layers=list(layers), residual=0.0, pushes=0)


def chains_to(walk: Walk, goals: Sequence[int], utility: Mapping[int, float], most: int) -> dict[int, Path]:
    return best_chains(find_paths(walk, goals, utility), max_chains=most)


def first(*witnesses: tuple[int, Witness]) -> Layer:
    layer = Layer({A: 0.5, B: 0.5})
    for chunk, witness in witnesses:
        layer.witnesses.setdefault(chunk, []).append(witness)
        layer.chunks[chunk] = layer.chunks.get(chunk, 0.0) + witness.mass
    layer.spread = list(layer.chunks)
    return layer


def second(arrivals: dict[int, list[Arrival]], witnesses: dict[int, list[Witness]]) -> Layer:
    return Layer(
        {entity: sum(item.mass for item in items) for entity, items in arrivals.items()},
        arrivals=arrivals,
        witnesses=witnesses,
    )


def test_the_heaviest_way_leads_over_chunk_and_bridge() -> None:
    walk = walked(
        first((100, Witness(0.3, A, 0, NO_FACT)), (101, Witness(0.1, A, 0, NO_FACT))),
        second(
            {X: [Arrival(0.05, 101, 0, NO_FACT, FIRST_STAGE), Arrival(0.1, 100, 0, NO_FACT, FIRST_STAGE)]},
            {102: [Witness(0.1, X, 0, NO_FACT)]},
        ),
    )
    path = chains_to(walk, [102], UTILITY, 9)[102]
    assert [(step.source, step.chunk, step.target) for step in path.steps] == [(A, 100, X), (X, 102, None)]
    assert path.anchors == (A,)
    assert path.chunks == (100, 102)
    assert path.score == (0.8 + 0.2) / 2


def test_a_fact_leads_from_its_source_without_the_chunks_other_witnesses() -> None:
    walk = walked(
        first((100, Witness(0.2, A, 3, 7)), (100, Witness(0.3, B, 0, NO_FACT))),
        second({X: [Arrival(0.1, 100, 3, 7, A)]}, {101: [Witness(0.1, X, 0, NO_FACT)]}),
    )
    path = chains_to(walk, [101], UTILITY, 9)[101]
    assert [(step.source, step.relation, step.fact, step.target) for step in path.steps] == [
        (A, 3, 7, X),
        (X, 0, NO_FACT, None),
    ]


def test_two_anchors_that_reach_one_passage_are_joined() -> None:
    walk = walked(first((100, Witness(0.3, A, 0, NO_FACT)), (100, Witness(0.2, B, 0, NO_FACT))))
    path = chains_to(walk, [100], UTILITY, 9)[100]
    assert path.anchors == (A, B)
    assert path.score == 0.8 + JOIN_BONUS
    assert [step.source for step in path.steps] == [A, B]


def test_a_negligible_second_way_joins_nothing() -> None:
    walk = walked(first((100, Witness(0.3, A, 0, NO_FACT)), (100, Witness(0.001, B, 0, NO_FACT))))
    assert chains_to(walk, [100], UTILITY, 9)[100].anchors == (A,)


def test_a_first_stage_hit_starts_a_way_without_an_anchor() -> None:
    walk = walked(first((100, Witness(0.3, FIRST_STAGE, 0, NO_FACT))))
    path = chains_to(walk, [100], UTILITY, 9)[100]
    assert (path.anchors, path.steps[0].source) == ((), FIRST_STAGE)


def test_the_beginning_of_another_path_is_left_out_and_only_that() -> None:
    walk = walked(
        first((100, Witness(0.3, A, 0, NO_FACT)), (101, Witness(0.3, B, 0, NO_FACT))),
        second({X: [Arrival(0.1, 100, 0, NO_FACT, FIRST_STAGE)]}, {102: [Witness(0.1, X, 0, NO_FACT)]}),
    )
    assert list(chains_to(walk, [100, 101, 102], UTILITY, 9)) == [102, 101]


def test_a_way_from_another_anchor_to_the_same_passage_stays() -> None:
    # To 100 the heaviest way is B's; the longer path to 102 passes 100 by a fact of A's.
    walk = walked(
        first((100, Witness(0.01, A, 3, 7)), (100, Witness(0.5, B, 0, NO_FACT))),
        second({X: [Arrival(0.1, 100, 3, 7, A)]}, {102: [Witness(0.1, X, 0, NO_FACT)]}),
    )
    found = chains_to(walk, [100, 102], UTILITY, 9)
    assert {goal: path.anchors for goal, path in found.items()} == {100: (B,), 102: (A,)}


def test_a_beginning_of_two_hops_is_left_out_too() -> None:
    walk = walked(
        first((100, Witness(0.3, A, 0, NO_FACT))),
        second({X: [Arrival(0.1, 100, 0, NO_FACT, FIRST_STAGE)]}, {101: [Witness(0.1, X, 0, NO_FACT)]}),
        second({Y: [Arrival(0.05, 101, 0, NO_FACT, FIRST_STAGE)]}, {102: [Witness(0.05, Y, 0, NO_FACT)]}),
    )
    assert list(chains_to(walk, [100, 101, 102], UTILITY, 9)) == [102]


def test_paths_come_by_score_then_by_the_goals_order_and_are_cut() -> None:
    walk = walked(first(*((chunk, Witness(0.1, A, 0, NO_FACT)) for chunk in (101, 100, 102))))
    assert list(chains_to(walk, [102, 101, 100], UTILITY, 2)) == [100, 101]
    assert list(chains_to(walk, [102, 101, 100], {}, 9)) == [102, 101, 100]
    assert chains_to(walk, [102], UTILITY, 0) == {}
    assert chains_to(walk, [999], UTILITY, 9) == {}
