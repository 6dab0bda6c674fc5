"""Selection against every subset: the budget, the bound and the greedy value."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latence_retrieval.errors import InvalidInputError
from latence_retrieval.prompt import SEPARATOR, packed_block, packed_text
from latence_retrieval.records import Chunk
from latence_retrieval.select.bound import upper_bound
from latence_retrieval.select.budget import Item, choose
from latence_retrieval.select.pack import Candidate, pack
from latence_retrieval.select.tokens import estimate_tokens
from latence_retrieval.settings import SelectionSettings

WORDS = ["alpha", "beta", "gamma", "delta", "epsilon"]
ITEMS = st.lists(
    st.builds(
        Item,
        worth=st.floats(0.0, 1.0),
        tokens=st.integers(0, 12),
        words=st.frozensets(st.sampled_from(WORDS), max_size=4),
    ),
    min_size=1,
    max_size=7,
)
OBJECTIVES = st.builds(
    SelectionSettings,
    completion_bonus=st.floats(0.0, 1.0),
    redundancy=st.floats(0.0, 1.0),
)


def value_of(
    places: tuple[int, ...], items: list[Item], chains: list[frozenset[int]], objective: SelectionSettings
) -> float:
    """The objective as the module's docstring states it, with nothing shared with its code."""
    total = 0.0
    for at, place in enumerate(places):
        words = items[place].words
        overlaps = [len(words & items[other].words) / len(words) for other in places[:at]] if words else []
        total += items[place].worth * (1.0 - objective.redundancy * max(overlaps, default=0.0))
    whole = [chain for chain in chains if len(chain) > 1 and chain <= set(places)]
    return total + objective.completion_bonus * sum(min(items[place].worth for place in chain) for chain in whole)


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Item], list[frozenset[int]], int, SelectionSettings]:
    items = draw(ITEMS)
    places = st.integers(0, len(items) - 1)
    chains = draw(st.lists(st.frozensets(places, min_size=1, max_size=3), max_size=3))
    return items, chains, draw(st.integers(0, 40)), draw(OBJECTIVES)


@settings(max_examples=150)
@given(problems())
def test_the_choice_keeps_the_budget_and_its_bound_holds_for_every_subset(
    problem: tuple[list[Item], list[frozenset[int]], int, SelectionSettings],
) -> None:
    items, chains, budget, objective = problem

    def fits(places: object) -> bool:
        return sum(items[place].tokens for place in places) <= budget  # type: ignore[attr-defined]

    choice = choose(items, chains, budget_tokens=budget, fits=fits, settings=objective)
    assert choice.places == tuple(sorted(set(choice.places)))
    assert fits(choice.places)
    assert choice.value == pytest.approx(value_of(choice.places, items, chains, objective))
    subsets = [s for size in range(len(items) + 1) for s in combinations(range(len(items)), size) if fits(s)]
    best = max(value_of(subset, items, chains, objective) for subset in subsets)
    assert choice.value <= best + 1e-9
    assert best <= choice.bound + 1e-9
    singles = [value_of(subset, items, chains, objective) for subset in subsets if len(subset) == 1]
    assert choice.value >= max(singles, default=0.0) - 1e-9


@settings(max_examples=150)
@given(problems())
def test_the_upper_bound_alone_bounds_every_subset(
    problem: tuple[list[Item], list[frozenset[int]], int, SelectionSettings],
) -> None:
    items, chains, budget, objective = problem
    bound = upper_bound(
        [item.worth for item in items],
        [item.tokens for item in items],
        [
            (chain, objective.completion_bonus * min(items[place].worth for place in chain))
            for chain in chains
            if len(chain) > 1
        ],
        budget_tokens=budget,
    )
    for size in range(len(items) + 1):
        for subset in combinations(range(len(items)), size):
            if sum(items[place].tokens for place in subset) <= budget:
                assert value_of(subset, items, chains, objective) <= bound + 1e-9


COUNTERS = {
    "estimate": estimate_tokens,
    "characters": len,
    "constant": lambda text: 5,
    "zero": lambda text: 0,
    "huge": lambda text: 10**30,
    "words": lambda text: len(text.split()),
    "square": lambda text: len(text) ** 2,
    "root": lambda text: int(len(text) ** 0.5),
    "odd": lambda text: (len(text) * 7919) % 101,
    "falling": lambda text: max(0, 400 - len(text)),
    "whole only": lambda text: 1000 if text.count("[") > 1 else 1,
}
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join), min_size=1, max_size=6)


@pytest.mark.parametrize("name", COUNTERS)
@settings(max_examples=25)
@given(texts=TEXTS, budget=st.integers(1, 120), worths=st.lists(st.floats(0.0, 2.0), min_size=6, max_size=6))
def test_the_budget_holds_whatever_the_counter_says(
    name: str, texts: list[str], budget: int, worths: list[float]
) -> None:
    count = COUNTERS[name]
    candidates = [Candidate(Chunk(id=f"c{n}", text=text), 0.5, worths[n], ("because",)) for n, text in enumerate(texts)]
    selection, dropped = pack(
        candidates, [frozenset({0, len(texts) - 1})], budget_tokens=budget, count=count, settings=SelectionSettings()
    )
    assert selection.tokens <= selection.budget_tokens == budget
    packed = packed_text([selected.chunk for selected in selection.chunks])
    assert selection.tokens == (count(packed) if packed else 0)
    assert [selected.citation for selected in selection.chunks] == list(range(1, len(selection.chunks) + 1))
    assert 0.0 <= selection.value <= selection.bound
    assert 0.0 <= selection.guaranteed_share <= 1.0
    together = [selected.chunk.id for selected in selection.chunks] + [item.chunk_id for item in dropped]
    assert sorted(together) == [candidate.chunk.id for candidate in candidates]


@settings(max_examples=40)
@given(texts=TEXTS, budget=st.integers(1, 120))
@pytest.mark.parametrize("name", ["estimate", "characters", "words", "root", "constant"])
def test_the_bound_holds_for_passages_that_keep_the_budget_one_by_one(name: str, texts: list[str], budget: int) -> None:
    count = COUNTERS[name]
    chunks = [Chunk(id=f"c{n}", text=text) for n, text in enumerate(texts)]
    objective = SelectionSettings(redundancy=0.0)
    selection, _ = pack(
        [Candidate(chunk, 0.5, 1.0, ()) for chunk in chunks], [], budget_tokens=budget, count=count, settings=objective
    )
    alone = [count(packed_block(place + 1, chunk)) for place, chunk in enumerate(chunks)]
    best = max(
        size
        for size in range(len(chunks) + 1)
        for subset in combinations(range(len(chunks)), size)
        if sum(alone[place] for place in subset) + max(0, size - 1) * count(SEPARATOR) <= budget
    )
    assert best <= selection.bound + 1e-9


@pytest.mark.parametrize("counted", [-1, 1.0, "3", None, True, float("nan")])
def test_what_is_no_count_is_refused(counted: object) -> None:
    candidate = Candidate(Chunk(id="c", text="x"), 1.0, 1.0, ())
    with pytest.raises(InvalidInputError, match="count_tokens"):
        pack([candidate], [], budget_tokens=9, count=lambda text: counted, settings=SelectionSettings())  # type: ignore[arg-type,return-value]
