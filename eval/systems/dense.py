"""The dense first stage: exact cosine over the set's passage vectors."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.cache import code_digest
from eval.data.records import EvalSet, Question, Vectors
from eval.errors import SystemUnavailable
from eval.systems.base import Answer, Bench, ranked
from eval.systems.clock import Stopwatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["Dense", "DenseSearch", "top_rows"]


def top_rows(scores: NDArray[Any], *, k: int, ids: NDArray[Any] | None = None) -> NDArray[np.intp]:
    """Return the rows of the `k` highest scores, score descending, then row (or id) ascending."""
    import numpy as np

    count = min(k, scores.shape[0])
    if count == 0:
        return np.empty(0, dtype=np.intp)
    floor = np.partition(scores, scores.shape[0] - count)[scores.shape[0] - count]
    candidates = np.flatnonzero(scores >= floor)
    ties = candidates if ids is None else ids[candidates]
    order = np.lexsort((ties, -scores[candidates]))
    return np.asarray(candidates[order[:count]], dtype=np.intp)


class DenseSearch:
    """Exact search over one set's passage vectors, shared by every system that needs a first stage."""

    def __init__(self, data: EvalSet) -> None:
        import numpy as np

        if data.vectors is None:
            reason = f"{data.name} has no vectors.npz; run `python -m eval prepare --sets {data.name}`"
            raise SystemUnavailable("dense", reason)
        self.vectors: Vectors = data.vectors
        self._ids = [passage.id for passage in data.passages]
        self._order = np.argsort(np.argsort(np.array(self._ids, dtype=object)))

    def scores(self, question: Question) -> NDArray[np.float32]:
        """Return the cosine of every passage to the question, rows in file order."""
        result: NDArray[np.float32] = self.vectors.chunks @ self.vectors.queries[question.row]
        return result

    def search(self, question: Question, *, k: int) -> list[tuple[str, float]]:
        """Return the `k` nearest passages as (id, cosine), best first."""
        scores = self.scores(question)
        return [(self._ids[row], float(scores[row])) for row in top_rows(scores, k=k, ids=self._order)]

    def embedding(self, question: Question) -> list[float]:
        """Return the question's vector as plain numbers."""
        return [float(value) for value in self.vectors.queries[question.row]]


class Dense:
    """Dense retrieval alone."""

    name = "dense"

    def identity(self) -> Mapping[str, object]:
        """Depend on this file."""
        return {"code": code_digest(Path(__file__))}

    def prepare(self, bench: Bench) -> Mapping[str, float]:
        """Take the bench's dense search."""
        self._search = bench.dense
        self._depth = bench.config.depth
        return {}

    def answer(self, question: Question) -> Answer:
        """Rank by cosine."""
        with Stopwatch() as clock:
            pairs = self._search.search(question, k=self._depth)
        ids, scores = ranked(pairs)
        return Answer(ranking=ids, scores=scores, elapsed_ms=clock.wall_ms, cpu_ms=clock.cpu_ms)

    def close(self) -> None:
        """Nothing is held."""
