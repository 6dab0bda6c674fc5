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

from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from eval.cache import code_digest
from eval.data.records import Question
from eval.systems.base import Answer, Bench, ranked
from eval.systems.clock import Stopwatch
from eval.systems.dense import top_rows
from eval.systems.pagerank import PassageGraph
from eval.systems.sidecars import building_digest

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


class HippoRagStyle:
    """HippoRAG 2's query path on the bench's graph."""

    name = "hipporag2-style"

    def identity(self) -> Mapping[str, object]:
        """Depend on this file, the PageRank and the graph."""
        here = Path(__file__).parent
        return {
            "code": code_digest(Path(__file__), here / "pagerank.py", here.parent / "graph"),
            "graph": building_digest(),
        }

    def prepare(self, bench: Bench) -> Mapping[str, float]:
        """Build the graph once."""
        import numpy as np

        self._dense = bench.dense
        self._depth = bench.config.depth
        start = perf_counter()
        graph = bench.graph
        self._graph = graph
        self._walk = PassageGraph(self.name, bench.data, graph, synonym_cosine=SYNONYM_COSINE)
        facts = graph.facts
        self._pairs = np.array([(a, b) for a, b, _ in facts], dtype=np.int64).reshape(-1, 2)
        self._fact_vectors = self._embed_facts([row for _, _, row in facts])
        self._passages_of_entity = np.maximum(1, np.array([len(rows) for rows in graph.passages_of]))
        return {
            "build_s": perf_counter() - start,
            "nodes": self._walk.node_count,
            "edges": self._walk.edge_count,
        }

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
        ids, scores = ranked(pairs)
        return Answer(
            ranking=ids,
            scores=scores,
            elapsed_ms=seeding.wall_ms + walking.wall_ms,
            cpu_ms=seeding.cpu_ms + walking.cpu_ms,
            stages_ms={"seeds": seeding.wall_ms, "walk": walking.wall_ms},
        )

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

    def close(self) -> None:
        """Nothing is held."""


def _normal(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return scores moved to [0, 1] by their least and greatest."""
    import numpy as np

    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.ones_like(scores)
