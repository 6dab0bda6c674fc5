"""Order chunks so that the top of the list covers the question, not one side of it twice.

Greedy coverage (the maximum-coverage heuristic of Nemhauser, Wolsey and Fisher 1978; maximal marginal relevance,
Carbonell and Goldstein 1998, is its relative): rank by rank, the chunk with the highest utility plus the part of the
question's terms that it adds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

__all__ = ["covering_order"]

_POOL = 2  # times `depth`: how far down a chunk may come from


def covering_order(
    ordered: Sequence[int],
    scores: Mapping[int, float],
    term_weights: Mapping[str, float],
    held_by: Callable[[int], Sequence[str]],
    *,
    coverage: float,
    depth: int,
) -> list[tuple[int, float]]:
    """Return (chunk, worth) best first: what the chunk adds to those above it.

    Args:
        ordered: all chunks, by utility.
        scores: utility by chunk.
        term_weights: idf by question term.
        held_by: the question terms that a chunk holds.
        coverage: worth of covering all terms, on the scale of the scores; 0 orders by utility alone.
        depth: how many ranks are filled by coverage; the rest follow by utility.
    """
    total = sum(term_weights.values())
    if coverage <= 0.0 or total <= 0.0:
        return [(chunk, scores[chunk]) for chunk in ordered]
    pool = list(ordered[: _POOL * depth])
    left = {term: coverage * weight / total for term, weight in term_weights.items()}
    held = {chunk: [term for term in held_by(chunk) if term in left] for chunk in pool}

    def worth_of(chunk: int) -> float:  # summed anew each time, in one order: equal stays equal to the last bit
        return scores[chunk] + sum([left[term] for term in held[chunk]])

    worth = {chunk: worth_of(chunk) for chunk in pool}
    chosen: list[tuple[int, float]] = []
    while pool and len(chosen) < depth:
        chunk = max(pool, key=worth.__getitem__)  # the first of equals: the pool stands in order of score and id
        pool.remove(chunk)
        chosen.append((chunk, worth[chunk]))
        covered = set(held[chunk])
        for other in pool if covered else ():
            if not covered.isdisjoint(held[other]):
                held[other] = [term for term in held[other] if term not in covered]
                worth[other] = worth_of(other)
    rest = [*pool, *ordered[_POOL * depth :]]
    return [*chosen, *((chunk, scores[chunk]) for chunk in rest)]
