"""The relation signal by embeddings in several forms, for comparison: how labels are put, and what the query loses."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from eval.bench.tier2_asking import Asker
from eval.data.records import Question
from latence_retrieval.utility.relation import COSINE_CEILING, COSINE_FLOOR

__all__ = ["EmbeddedRelations", "calibrate"]


class EmbeddedRelations:
    """A `RelationSignal` by the cosine of question and label, linear between a floor and a ceiling."""

    name = "embedding"

    def __init__(self, asker: Asker, *, form: str, less_anchors: float = 0.0) -> None:
        """Keep the form.

        Args:
            asker: its embedder embeds labels; its tiers find anchors.
            form: of the text that is embedded for a label.
            less_anchors: this much of the mean vector of the anchors' names is taken from the query's.
        """
        self.asker = asker
        self._form = form
        self._less = less_anchors
        self._queries: dict[str, Any] = {}
        self.floor, self.ceiling = COSINE_FLOOR, COSINE_CEILING

    def relation_scores(
        self, query: str, labels: Mapping[str, str | None], embedding: Sequence[float] | None
    ) -> Mapping[str, float] | None:
        """Return a score for every label."""
        if embedding is None or not labels:
            return None
        span = self.ceiling - self.floor
        return {
            label: min(1.0, max(0.0, (cosine - self.floor) / span))
            for label, cosine in self.cosines(query, list(labels), embedding).items()
        }

    def cosines(self, query: str, labels: Sequence[str], embedding: Sequence[float]) -> dict[str, float]:
        """Return the cosine of each label with what is left of the query."""
        import numpy as np

        if query not in self._queries:
            self._queries[query] = self._left(query, embedding)
        matrix = np.asarray(self.asker.embed.many([self._form.format(label) for label in labels]), dtype="f4")
        return dict(zip(labels, (matrix @ self._queries[query]).tolist(), strict=True))

    def _left(self, query: str, embedding: Sequence[float]) -> Any:
        import numpy as np

        left = np.asarray(embedding, dtype="f4")
        names = self.asker.anchor_names(query, embedding) if self._less else ()
        if names:
            left = left - self._less * np.asarray(self.asker.embed.many(names), dtype="f4").mean(axis=0)
        length = float(np.linalg.norm(left))
        return left / length if length > 1e-6 else left


def calibrate(
    signal: EmbeddedRelations, questions: Sequence[Question], asked: Mapping[str, set[str]], labels: Sequence[str]
) -> dict[str, float]:
    """Set floor and ceiling: the median of relations not asked for, and the ninth decile of those asked for."""
    wanted: list[float] = []
    others: list[float] = []
    for question in questions:
        cosines = signal.cosines(question.text, labels, signal.asker.vector(question))
        for label, cosine in cosines.items():
            (wanted if label in asked[question.id] else others).append(cosine)
    if len(wanted) > 1 and len(others) > 1:
        signal.floor = statistics.median(others)
        signal.ceiling = max(statistics.quantiles(wanted, n=10)[-1], signal.floor + 0.05)
    return {"floor": round(signal.floor, 3), "ceiling": round(signal.ceiling, 3)}
