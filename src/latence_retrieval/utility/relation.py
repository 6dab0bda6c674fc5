"""The relation signal that needs no model: the caller's query embedding against the snapshot's relation vectors."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence

from latence_retrieval.sidecar.read import Sidecar

__all__ = ["COSINE_CEILING", "COSINE_FLOOR", "EmbeddingRelationSignal", "open_question", "relation_score"]

COSINE_FLOOR = 0.10
COSINE_CEILING = 0.45
"""Cosines that become 0.0 and 1.0: on half of the 2Wiki questions, the median of relations that a question does not
ask for is 0.11, and the ninth decile of those that it asks for 0.45 (all-MiniLM-L6-v2, bare labels; adr/0024)."""

ANCHORS_TAKEN = 0.5
"""How much of the anchors' vectors is taken from the query's: what is left says what is asked, not of whom (adr/0028)."""

_BATCH = 1024
"""Relations read at once while the labels are numbered."""


def relation_score(cosine: float) -> float:
    """Return the cosine of question and relation as a score in [0, 1], linear between floor and ceiling."""
    return min(1.0, max(0.0, (cosine - COSINE_FLOOR) / (COSINE_CEILING - COSINE_FLOOR)))


def open_question(
    embedding: Sequence[float], anchors: Iterable[tuple[float, Sequence[float] | None]]
) -> Sequence[float]:
    """Return the unit vector of the query less half of its anchors', each by its mass.

    Args:
        embedding: unit vector of the query.
        anchors: mass and unit vector of each, None where it has none.

    Returns:
        `embedding` itself where no anchor has a vector or nothing is left.
    """
    known = [(mass, vector) for mass, vector in anchors if vector is not None]
    left = list(embedding)
    for mass, vector in known:
        scale = ANCHORS_TAKEN * mass
        left = [value - scale * part for value, part in zip(left, vector, strict=True)]
    length = math.sqrt(sum([value * value for value in left]))
    return [value / length for value in left] if known and length > 1e-6 else embedding


class EmbeddingRelationSignal:
    """A `RelationSignal` over one open snapshot with relation vectors.

    It costs one dot product per label asked, and no model. Absent where the snapshot has no relation vectors or the
    caller gave no embedding. Usable as long as the snapshot is open, from any thread.
    """

    reads_open_question = True
    """The query's embedding comes without half of its anchors: a name tells nothing of the relation."""

    def __init__(self, sidecar: Sidecar) -> None:
        """Keep the snapshot; labels are numbered at the first use.

        Args:
            sidecar: open; its relation vectors must come from the model of the query embedding.
        """
        self._sidecar = sidecar
        self._numbers: dict[str, int] | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """`embedding`."""
        return "embedding"

    def relation_scores(
        self, query: str, labels: Mapping[str, str | None], embedding: Sequence[float] | None
    ) -> Mapping[str, float] | None:
        """Return a score for each label that the snapshot knows; None where vectors or embedding are missing.

        Args:
            query: not looked at; the embedding stands for it.
            labels: relation labels; a label without a vector scores 0.0.
            embedding: unit vector of the question, or None.
        """
        del query
        vectors = self._sidecar.relation_vectors
        if embedding is None or vectors is None or not labels:
            return None
        numbers = self._label_numbers()
        known = [label for label in labels if label in numbers]
        cosines = vectors.dots(embedding, [numbers[label] for label in known])
        return {label: relation_score(cosine) for label, cosine in zip(known, cosines, strict=True)}

    def _label_numbers(self) -> dict[str, int]:
        """Return label -> number, read once."""
        with self._lock:
            if self._numbers is None:
                count = self._sidecar.manifest.counts.relations
                found: dict[str, int] = {}
                for first in range(0, count, _BATCH):
                    numbers = range(first, min(first + _BATCH, count))
                    for number, (label, _) in zip(numbers, self._sidecar.relations(numbers), strict=True):
                        found.setdefault(label, number)
                self._numbers = found
            return self._numbers
