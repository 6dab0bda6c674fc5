"""Dense and BM25 fused by reciprocal rank.

    score(d) = Σ_channels 1 / (60 + rank of d in the channel), ranks from one

Cormack, Clarke and Buettcher, SIGIR 2009.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

from eval.cache import code_digest
from eval.data.records import Question
from eval.systems.base import Answer, Bench, ranked
from eval.systems.bm25 import Bm25Index
from eval.systems.clock import Stopwatch

__all__ = ["Rrf", "fuse"]

RRF_K = 60
"""Cormack, Clarke and Buettcher, SIGIR 2009."""


def fuse(channels: Sequence[Sequence[str]], *, k: int) -> list[tuple[str, float]]:
    """Return at most `k` ids with their fused scores, score descending, then id ascending."""
    scores: dict[str, float] = {}
    for channel in channels:
        for rank, item in enumerate(channel, start=1):
            scores[item] = scores.get(item, 0.0) + 1.0 / (RRF_K + rank)
    return sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k]


class Rrf:
    """The hybrid that most stacks run: dense and BM25, fused by rank."""

    name = "rrf"

    def identity(self) -> Mapping[str, object]:
        """Depend on this file and both channels."""
        here = Path(__file__).parent
        return {"code": code_digest(Path(__file__), here / "dense.py", here / "bm25.py")}

    def prepare(self, bench: Bench) -> Mapping[str, float]:
        """Take the dense search and index the corpus."""
        self._dense = bench.dense
        start = perf_counter()
        passages = bench.data.passages
        self._index = Bm25Index([item.id for item in passages], [item.packed for item in passages])
        self._depth = bench.config.depth
        self._channel_depth = bench.config.first_stage_depth
        return {"build_s": perf_counter() - start}

    def answer(self, question: Question) -> Answer:
        """Rank by fused score."""
        with Stopwatch() as clock:
            near = [item for item, _ in self._dense.search(question, k=self._channel_depth)]
            lexical = [item for item, _ in self._index.search(question.text, k=self._channel_depth)]
            pairs = fuse([near, lexical], k=self._depth)
        ids, scores = ranked(pairs)
        return Answer(ranking=ids, scores=scores, elapsed_ms=clock.wall_ms, cpu_ms=clock.cpu_ms)

    def close(self) -> None:
        """Nothing is held."""
