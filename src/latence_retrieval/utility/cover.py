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
    held = {chunk: held_by(chunk) for chunk in pool}
    left = {term: coverage * weight / total for term, weight in term_weights.items()}
    chosen: list[tuple[int, float]] = []
    while pool and len(chosen) < depth:
        worths = [scores[chunk] + sum(left.get(term, 0.0) for term in held[chunk]) for chunk in pool]
        best = worths.index(max(worths))  # the first of equals: the pool stands in order of score and id
        chunk = pool.pop(best)
        chosen.append((chunk, worths[best]))
        for term in held[chunk]:
            left.pop(term, None)
    rest = [*pool, *ordered[_POOL * depth :]]
    return [*chosen, *((chunk, scores[chunk]) for chunk in rest)]
