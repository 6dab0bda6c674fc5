"""BM25 over title and text, plainly: a baseline that shares no code with the library (its own is `chunks-lexical`).

    score(q, d) = Σ_t idf(t) · tf · (k1 + 1) / (tf + k1 · (1 - b + b · |d| / avgdl))
    idf(t)      = ln(1 + (N - n + .5) / (n + .5))

Robertson and Zaragoza, The Probabilistic Relevance Framework: BM25 and Beyond, 2009, with Lucene's idf,
which is never negative; k1 = 1.2 and b = 0.75 are Lucene's defaults.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

from eval.cache import code_digest
from eval.data.records import Question
from eval.systems.base import Answer, Bench, ranked
from eval.systems.clock import Stopwatch

__all__ = ["Bm25", "Bm25Index", "words"]

K1 = 1.2
B = 0.75
_WORD = re.compile(r"\w+")


def words(text: str) -> list[str]:
    """Return the words of `text`: compatibility form, accents dropped, case folded."""
    plain = unicodedata.normalize("NFKD", text).casefold()
    return _WORD.findall("".join(char for char in plain if not unicodedata.combining(char)))


class Bm25Index:
    """Postings with precomputed weights, as arrays."""

    def __init__(self, ids: Sequence[str], texts: Sequence[str]) -> None:
        import numpy as np

        counts = [Counter(words(text)) for text in texts]
        lengths = [sum(count.values()) for count in counts]
        average = (sum(lengths) / len(lengths)) if lengths else 1.0
        self._ids = list(ids)
        self._order = np.argsort(np.argsort(np.array(self._ids, dtype=object)))
        rows: dict[str, list[int]] = {}
        parts: dict[str, list[float]] = {}
        for row, count in enumerate(counts):
            scale = K1 * (1.0 - B + B * lengths[row] / (average or 1.0))
            for term, times in count.items():
                rows.setdefault(term, []).append(row)
                parts.setdefault(term, []).append(times * (K1 + 1.0) / (times + scale))
        total = len(self._ids)
        self._postings = {
            term: (
                np.array(found, dtype=np.int64),
                np.array(parts[term]) * math.log(1.0 + (total - len(found) + 0.5) / (len(found) + 0.5)),
            )
            for term, found in rows.items()
        }

    def search(self, query: str, *, k: int) -> list[tuple[str, float]]:
        """Return at most `k` passages that share a word with the query, as (id, score), best first."""
        import numpy as np

        from eval.systems.dense import top_rows

        scores = np.zeros(len(self._ids))
        for term, times in Counter(words(query)).items():
            if term in self._postings:
                rows, weights = self._postings[term]
                scores[rows] += times * weights
        top = top_rows(scores, k=k, ids=self._order)
        return [(self._ids[row], float(scores[row])) for row in top if scores[row] > 0.0]


class Bm25:
    """BM25 alone."""

    name = "bm25"

    def identity(self) -> Mapping[str, object]:
        """Depend on this file."""
        return {"code": code_digest(Path(__file__))}

    def prepare(self, bench: Bench) -> Mapping[str, float]:
        """Index the corpus."""
        start = perf_counter()
        passages = bench.data.passages
        self._index = Bm25Index([item.id for item in passages], [item.packed for item in passages])
        self._depth = bench.config.depth
        return {"build_s": perf_counter() - start}

    def answer(self, question: Question) -> Answer:
        """Rank by BM25."""
        with Stopwatch() as clock:
            pairs = self._index.search(question.text, k=self._depth)
        ids, scores = ranked(pairs)
        return Answer(ranking=ids, scores=scores, elapsed_ms=clock.wall_ms, cpu_ms=clock.cpu_ms)

    def close(self) -> None:
        """Nothing is held."""
