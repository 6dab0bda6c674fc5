"""Choose passages under a token budget: the most worth, little repetition, chains whole.

The objective of a set S is Σ worth(i) × (1 - redundancy × overlap(i)) + bonus × Σ (the least worth in a chain that is whole
in S), where overlap(i) is the largest part of i's words that one passage taken before it has. Three ways are tried and the best
result is kept: greedy by gain per token over passages and whole chains, greedy in the order of the ranking, and the
best single passage (Khuller, Moss and Naor 1999 show why the ratio needs the single item beside it).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from latence_retrieval.select.bound import upper_bound
from latence_retrieval.settings import SelectionSettings

__all__ = ["Choice", "Item", "choose"]


class Item(NamedTuple):
    """A candidate: its place in the ranking is its place in the list. `worth` in [0, 1], `tokens` at least 0."""

    worth: float
    tokens: int
    words: frozenset[str]


class Choice(NamedTuple):
    """Places of the chosen items in the order of the ranking, the objective's value, and an upper bound on it."""

    places: tuple[int, ...]
    value: float
    bound: float


def choose(
    items: Sequence[Item],
    chains: Sequence[frozenset[int]],
    *,
    budget_tokens: int,
    fits: Callable[[Sequence[int]], bool],
    settings: SelectionSettings,
) -> Choice:
    """Choose items under the budget.

    Args:
        items: candidates in the order of the ranking.
        chains: places of each chain's witnesses; only chains whose witnesses are all candidates.
        budget_tokens: for the sum of the items' tokens.
        fits: whether a set, packed as a whole, keeps the budget: the last word, whatever the items' tokens sum to.
        settings: weights of the objective.

    Returns:
        The best choice found; ties go to the one that comes first in the order above.
    """
    job = _Job(items, chains, settings)
    bound = upper_bound(
        [item.worth for item in items],
        [item.tokens for item in items],
        job.chains,
        budget_tokens=budget_tokens,
    )
    if settings.redundancy < 1.0 and sum([item.tokens for item in items]) <= budget_tokens:
        tried = [[place for place, item in enumerate(items) if item.worth > 0.0]]  # all three ways end here or below
    else:
        tried = [job.by_ratio(budget_tokens), job.in_order(budget_tokens), job.best_single(budget_tokens)]
    distinct = list(dict.fromkeys(tuple(sorted(places)) for places in tried))
    hopeful = sorted(((job.value(places), -at) for at, places in enumerate(distinct)), reverse=True)
    best: tuple[int, ...] = ()
    value = 0.0
    for hoped, at in hopeful:
        if hoped <= value:
            break  # the rest promise no more; counting the packed text is what costs here
        kept = _fitting(distinct[-at], fits)
        reached = hoped if kept == distinct[-at] else job.value(kept)
        if reached > value:
            best, value = kept, reached
    return Choice(best, value, max(bound, value))


def _fitting(places: Sequence[int], fits: Callable[[Sequence[int]], bool]) -> tuple[int, ...]:
    """Drop the lowest-ranked items until the whole fits."""
    kept = sorted(places)
    while kept and not fits(kept):
        kept.pop()
    return tuple(kept)


class _Job:
    def __init__(self, items: Sequence[Item], chains: Sequence[frozenset[int]], settings: SelectionSettings) -> None:
        self._items = items
        self.chains = [
            (chain, settings.completion_bonus * min(items[place].worth for place in chain))
            for chain in chains
            if len(chain) > 1
        ]
        self._settings = settings
        self._shares = _shared_words([item.words for item in items])

    def value(self, places: Sequence[int]) -> float:
        """Return the objective of a set of places, taken in the order of the ranking."""
        ordered = sorted(places)
        total = sum(self._items[place].worth for place in ordered)
        for at, place in enumerate(ordered):
            total -= self._settings.redundancy * self._overlap(place, ordered[:at]) * self._items[place].worth
        chosen = set(ordered)
        return total + sum(bonus for chain, bonus in self.chains if chain <= chosen)

    def by_ratio(self, budget_tokens: int) -> list[int]:
        """Take, step by step, the passage or the rest of a chain with the highest gain per token."""
        chosen: list[int] = []
        taken: set[int] = set()
        overlap = [0.0] * len(self._items)
        left = budget_tokens
        open_places = [place for place, item in enumerate(self._items) if item.tokens <= left]
        while open_places:
            bundle = self._best_bundle(open_places, taken, overlap, left)
            if not bundle:
                break
            for place in bundle:
                chosen.append(place)
                taken.add(place)
                left -= self._items[place].tokens
            open_places = [p for p in open_places if p not in taken and self._items[p].tokens <= left]
            for place in open_places:
                shares = self._shares[place]
                overlap[place] = max([overlap[place], *[shares[other] for other in bundle]])
        return chosen

    def _best_bundle(
        self, open_places: Sequence[int], taken: set[int], overlap: Sequence[float], left: int
    ) -> tuple[int, ...]:
        """Return the passage, or what a chain still lacks, with the highest gain per token; () where none gains."""
        settings, items = self._settings, self._items
        missing = [(chain - taken, bonus) for chain, bonus in self.chains if not chain <= taken]
        completes: dict[int, float] = {}
        for rest, bonus in missing:
            if len(rest) == 1:
                (place,) = rest
                completes[place] = completes.get(place, 0.0) + bonus
        best: tuple[int, ...] = ()
        best_ratio = 0.0
        redundancy = settings.redundancy
        for place in open_places:
            item = items[place]
            gain = item.worth * (1 - redundancy * overlap[place])
            gain += completes.get(place, 0.0)
            ratio = gain / (item.tokens or 1)
            if ratio > best_ratio:
                best, best_ratio = (place,), ratio
        available = set(open_places)
        for rest, _ in missing:
            if len(rest) > 1 and rest <= available:
                cost = sum(items[place].tokens for place in rest)
                if cost <= left:
                    gain = sum(
                        items[place].worth * (1 - settings.redundancy * overlap[place]) for place in sorted(rest)
                    )
                    gain += sum(bonus for other, bonus in missing if other <= rest)
                    ratio = gain / max(1, cost)
                    if ratio > best_ratio:
                        best, best_ratio = tuple(sorted(rest)), ratio
        return best

    def in_order(self, budget_tokens: int) -> list[int]:
        """Take passages in the order of the ranking, leaving out what no longer fits or costs more than it is worth."""
        chosen: list[int] = []
        left = budget_tokens
        for place, item in enumerate(self._items):
            cost = self._settings.redundancy * self._overlap(place, chosen) * item.worth
            if item.tokens <= left and item.worth > cost:
                chosen.append(place)
                left -= item.tokens
        return chosen

    def best_single(self, budget_tokens: int) -> list[int]:
        """Return the most valuable passage that fits."""
        places = [place for place, item in enumerate(self._items) if item.tokens <= budget_tokens and item.worth > 0.0]
        return [max(places, key=lambda place: (self._items[place].worth, -place))] if places else []

    def _overlap(self, place: int, before: Sequence[int]) -> float:
        shares = self._shares[place]
        return max([shares[other] for other in before], default=0.0)


def _shared_words(words: Sequence[frozenset[str]]) -> list[list[float]]:
    """Return for each set, by row, the part of it that each other one has."""
    shares = [[0.0] * len(words) for _ in words]
    for place, mine in enumerate(words):
        for other, theirs in enumerate(words[:place]):
            if common := len(mine & theirs):
                shares[place][other] = common / len(mine)
                shares[other][place] = common / len(theirs)
    return shares
