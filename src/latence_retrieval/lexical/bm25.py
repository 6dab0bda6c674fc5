"""Exact BM25 over posting lists.

    bm25 = Bm25(KeyValuePostings(reader))           # or MemoryPostings
    terms = analyser.terms(query)
    bm25.top(terms, 10)                             # [(chunk number, score)], best first: equal to a full scan
    bm25.scores(terms, [4, 17, 90])                 # scores of given chunks, one per number, 0.0 where no term is

The score of a chunk is the sum over query terms, repetitions counted, of

    ln(1 + (N - df + 0.5) / (df + 0.5)) * tf / (tf + k1 * (1 - b + b * length / average length))

Robertson and Zaragoza (2009), "The Probabilistic Relevance Framework: BM25 and Beyond", section 3, without the
constant factor k1 + 1, and with the idf of Lucene, which is above zero for every term. Terms are summed by
ascending document frequency, then alphabetically, here and in any reference: equal scores are equal bit for bit.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

from latence_retrieval.errors import InvalidInputError
from latence_retrieval.lexical.postings import PostingList, PostingSource
from latence_retrieval.order import by_score

__all__ = ["DEFAULT_B", "DEFAULT_K1", "Bm25", "inverse_document_frequency"]

DEFAULT_K1 = 1.2
"""The lower end of what Robertson and Zaragoza (2009, section 3.3) found to do well in many circumstances."""

DEFAULT_B = 0.5
"""Likewise; chunks are of similar length, and 0.5 is above 0.75 by 1.1 to 1.5 points of recall at 5 on three question
sets (adr/0012)."""

# A candidate is dropped only if it is below the threshold by more than rounding can explain.
_SLACK = 1.0 - 1e-9

_Weighted = tuple[PostingList, float]


def inverse_document_frequency(documents: int, document_frequency: int) -> float:
    """Return the smoothed idf ln(1 + (N - df + 0.5) / (df + 0.5)), above zero for every df in 1..N."""
    return math.log1p((documents - document_frequency + 0.5) / (document_frequency + 0.5))


class Bm25:
    """Ranks chunks by the words that they share with a query. Holds no state between calls."""

    def __init__(self, source: PostingSource, *, k1: float = DEFAULT_K1, b: float = DEFAULT_B) -> None:
        """Choose the postings and the two parameters.

        Args:
            source: posting lists and their statistics.
            k1: how fast repetitions saturate, at least 0.
            b: how much long chunks are held back, 0 to 1.

        Raises:
            InvalidInputError: a parameter outside its range.
        """
        if not 0.0 <= k1 < math.inf:
            raise InvalidInputError("k1", f"is {k1}", fix="give a finite number of at least 0")
        if not 0.0 <= b <= 1.0:
            raise InvalidInputError("b", f"is {b}", fix="give a number between 0 and 1")
        self._source = source
        self._k1 = k1
        self._b = b

    def top(
        self,
        terms: Sequence[str],
        k: int,
        *,
        allowed: Container[int] | None = None,
        ids: Callable[[Sequence[int]], Sequence[str]] | None = None,
    ) -> list[tuple[int, float]]:
        """Return the `k` best chunks that hold a term, exactly as a full scan would.

        Args:
            terms: index terms of the query; a repeated term counts as often as it stands there.
            k: how many, at least 0.
            allowed: the only chunk numbers that may come back; None for all. Applied before `k`.
            ids: gives chunk ids, by which equal scores are ordered; None orders them by number.

        Returns:
            Pairs of chunk number and score (above 0, unbounded), by score descending, then id ascending.

        Raises:
            InvalidInputError: `k` is negative.
        """
        if k < 0:
            raise InvalidInputError("k", f"is {k}", fix="give 0 or more")
        if k == 0:
            return []
        found = self._candidates(self._weighted(terms), k, allowed)
        best = by_score(found, ids or _as_they_are, limit=k)
        return [(number, found[number]) for number in best]

    def scores(self, terms: Sequence[str], numbers: Sequence[int]) -> list[float]:
        """Return the exact score of each of `numbers`, in their order; 0.0 where a chunk holds no term.

        Reads the heads of the lists and the blocks that may hold one of the chunks, in two batches.
        """
        total = dict.fromkeys(sorted(set(numbers)), 0.0)
        weighted = self._weighted(terms)
        found = self._source.find([posting_list for posting_list, _ in weighted], list(total))
        scale, slope = self._norm()
        for (_, weight), postings in zip(weighted, found, strict=True):
            for number, frequency, length in postings:
                total[number] += weight * frequency / (frequency + scale + slope * length)
        return [total[number] for number in numbers]

    def _norm(self) -> tuple[float, float]:
        """Return the two numbers that make k1 * (1 - b + b * length / average) = scale + slope * length."""
        return self._k1 * (1.0 - self._b), self._k1 * self._b / self._source.stats.average_length

    def _weighted(self, terms: Iterable[str]) -> list[_Weighted]:
        """Return the lists with their weights, in the order of summation: rare terms first."""
        counts = Counter(terms)
        documents = self._source.stats.documents
        weighted = [
            (found, counts[found.term] * inverse_document_frequency(documents, found.document_frequency))
            for found in self._source.lists(list(counts))
            if found is not None
        ]
        weighted.sort(key=lambda pair: (pair[0].document_frequency, pair[0].term))
        return weighted

    def _candidates(self, weighted: Sequence[_Weighted], k: int, allowed: Container[int] | None) -> dict[int, float]:
        """Score every chunk that may be among the best `k`: MaxScore, a term at a time.

        Turtle and Flood (1995), "Query evaluation: strategies and optimizations". Rare terms open candidates.
        Once the `k`-th best sum so far exceeds all that the terms still to come could add, a chunk that was not
        seen cannot enter; from then on, only candidates are looked up, and those that fall behind are dropped.
        """
        scale, slope = self._norm()
        still = _suffix_sums([_bound(found, weight, scale, slope) for found, weight in weighted])
        sums: dict[int, float] = {}
        threshold = 0.0
        for place, (found, weight) in enumerate(weighted):
            if len(sums) >= k and still[place] < threshold * _SLACK:
                least = threshold * _SLACK - still[place]
                sums = {number: value for number, value in sums.items() if value >= least}
                for number, frequency, length in self._source.find([found], sorted(sums))[0]:
                    sums[number] += weight * frequency / (frequency + scale + slope * length)
            else:
                self._add_list(sums, (found, weight), (scale, slope), allowed)
            if len(sums) >= k and still[place + 1] > 0.0:
                threshold = heapq.nlargest(k, sums.values())[-1]
        return sums

    def _add_list(
        self,
        sums: dict[int, float],
        weighted: _Weighted,
        norm: tuple[float, float],
        allowed: Container[int] | None,
    ) -> None:
        """Add one whole list to the sums."""
        (found, weight), (scale, slope) = weighted, norm
        for block in self._source.blocks(found):
            numbers, frequencies, lengths = block.columns()
            if frequencies.count(1) == len(frequencies):  # nearly all terms; of lengths there are a few hundred
                factors = {length: weight / (1 + scale + slope * length) for length in set(lengths)}
                parts = list(map(factors.__getitem__, lengths))
            else:
                parts = [
                    weight * frequency / (frequency + scale + slope * length)
                    for frequency, length in zip(frequencies, lengths, strict=True)
                ]
            added = dict(zip(numbers, parts, strict=True))
            if allowed is not None:
                added = {number: part for number, part in added.items() if number in allowed}
            for number in sums.keys() & added.keys():
                added[number] += sums[number]
            sums.update(added)


def _as_they_are(numbers: Sequence[int]) -> Sequence[Any]:
    """Stand in for ids, where numbers decide ties."""
    return numbers


def _bound(found: PostingList, weight: float, scale: float, slope: float) -> float:
    """Return the most that the term adds to any chunk."""
    return max(weight * tf / (tf + scale + slope * length) for tf, length in found.impacts)


def _suffix_sums(values: Sequence[float]) -> list[float]:
    """Return for each place the sum from there to the end; one longer than `values`, ending in 0."""
    sums = [0.0]
    for value in reversed(values):
        sums.append(sums[-1] + value)
    sums.reverse()
    return sums
