"""A peer in the style of HippoRAG 2: personalised PageRank over phrases and passages, seeded by facts.

Gutiérrez et al., From RAG to Memory: Non-Parametric Continual Learning for Large Language Models, ICML 2025
(arXiv 2502.14802), section 3. Written from the paper: facts nearest to the question give phrase seeds
(their mean fact score, over the number of passages of the phrase); every passage is a seed too, with its
normalised dense score times 0.05; PageRank with damping 0.5 over the undirected graph ranks passages.

Departures, all of them because no language model runs here: facts are pairs (what the passage is about, what it
mentions) instead of extracted triples; a fact's vector is the mean of its entities' and its passage's (the best of
four forms tried on these sets: entities alone lose 3 to 11 points of recall at 5); the recognition filter is left
out; synonym edges join entities whose vectors are at least 0.8 alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval.data.records import Question
from eval.systems.base import Answer
from eval.systems.clock import Stopwatch
from eval.systems.dense import top_rows
from eval.systems.peer import PageRankPeer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["HippoRagStyle"]

FACTS_KEPT = 5
"""`linking_top_k` of the paper's appendix: facts that seed the walk."""

PASSAGE_WEIGHT = 0.05
"""Weight of passage seeds against phrase seeds, section 3.4 and appendix of the paper."""

DAMPING = 0.5
"""Restart half of the time, as HippoRAG (NeurIPS 2024) chose."""

SYNONYM_COSINE = 0.8
"""Threshold of synonym edges in both papers."""


class HippoRagStyle(PageRankPeer):
    """HippoRAG 2's query path on the bench's graph."""

    name = "hipporag2-style"
    graph_options = {"synonym_cosine": SYNONYM_COSINE}  # noqa: RUF012 - ClassVar by its base

    def _index(self) -> None:
        """Embed the facts, and count each phrase's passages."""
        import numpy as np

        facts = self._graph.facts
        self._pairs = np.array([(a, b) for a, b, _ in facts], dtype=np.int64).reshape(-1, 2)
        self._fact_vectors = self._embed_facts([row for _, _, row in facts])
        self._passages_of_entity = np.maximum(1, np.array([len(rows) for rows in self._graph.passages_of]))

    def _embed_facts(self, rows: Sequence[int]) -> NDArray[np.float32] | None:
        from eval.data.vectors import unit_rows

        vectors = self._graph.vectors
        if vectors is None or not len(self._pairs):
            return None
        entities = unit_rows(vectors[self._pairs[:, 0]] + vectors[self._pairs[:, 1]])
        return unit_rows(entities + self._dense.vectors.chunks[list(rows)])

    def answer(self, question: Question) -> Answer:
        """Seed, walk, rank."""
        with Stopwatch() as seeding:
            dense = self._dense.scores(question)
            seeds = self._seeds(question, dense)
        with Stopwatch() as walking:
            pairs = self._walk.rank(seeds, damping=DAMPING, k=self._depth)
        return self._answer(pairs, {"seeds": seeding, "walk": walking})

    def _seeds(self, question: Question, dense: NDArray[np.float32]) -> NDArray[np.float64]:
        import numpy as np

        reset = np.zeros(self._walk.node_count)
        if self._fact_vectors is not None:
            scores = _normal(self._fact_vectors @ self._dense.vectors.queries[question.row])
            top = top_rows(scores, k=FACTS_KEPT)
            sums: dict[int, list[float]] = {}
            for fact in top:
                for entity in self._pairs[fact]:
                    share = float(scores[fact]) / float(self._passages_of_entity[entity])
                    sums.setdefault(int(entity), []).append(share)
            means = sorted(((sum(found) / len(found), -entity) for entity, found in sums.items()), reverse=True)
            for weight, entity in means[:FACTS_KEPT]:
                reset[-entity] = max(0.0, weight)
        reset[self._walk.first_passage :] = _normal(dense) * PASSAGE_WEIGHT
        return reset


def _normal(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return scores moved to [0, 1] by their least and greatest."""
    import numpy as np

    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.ones_like(scores)
