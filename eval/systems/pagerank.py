"""Personalised PageRank over entities and passages with igraph, as the peers call it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from eval.data.records import EvalSet
from eval.errors import SystemUnavailable
from eval.graph.entity_graph import EntityGraph

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["PassageGraph"]

_BLOCK_ROWS = 2048
"""Rows of the similarity matrix at a time, about 100 MB for these sets."""


class PassageGraph:
    """An undirected graph: entities first, then passages. Edges are mentions, facts and synonyms."""

    def __init__(
        self,
        system: str,
        data: EvalSet,
        graph: EntityGraph,
        *,
        facts: bool = True,
        synonym_cosine: float | None = None,
        weigh_mentions: bool = False,
    ) -> None:
        import numpy as np

        try:
            import igraph
        except ModuleNotFoundError as error:
            raise SystemUnavailable(system, "igraph is not installed; pip install -e '.[eval]'") from error
        self.first_passage = len(graph.names)
        self.node_count = self.first_passage + len(data.passages)
        weights: dict[tuple[int, int], float] = {}
        for row, found in enumerate(graph.mentions):
            total = sum(found.values())
            for entity, count in found.items():
                weights[entity, self.first_passage + row] = count / total if weigh_mentions else 1.0
        pairs = ((a, b) for a, b, _ in graph.facts) if facts else iter(())
        for a, b in pairs:
            edge = (min(a, b), max(a, b))
            weights[edge] = weights.get(edge, 0.0) + 1.0
        if synonym_cosine is not None and graph.vectors is not None:
            for a, b, cosine in _synonyms(graph.vectors, floor=synonym_cosine):
                weights[a, b] = weights.get((a, b), 0.0) + cosine
        self.edge_count = len(weights)
        self._graph: Any = igraph.Graph(n=self.node_count, edges=list(weights), directed=False)
        self._weights = list(weights.values())
        self._ids = [passage.id for passage in data.passages]
        self._order = np.argsort(np.argsort(np.array(self._ids, dtype=object)))

    def rank(self, reset: NDArray[np.float64], *, damping: float, k: int) -> list[tuple[str, float]]:
        """Return the `k` passages with the most mass as (id, share), best first; none without seeds."""
        import numpy as np

        from eval.systems.dense import top_rows

        if not reset.any():
            return []
        shares = self._graph.personalized_pagerank(
            vertices=range(self.first_passage, self.node_count),
            damping=damping,
            directed=False,
            weights=self._weights,
            reset=reset.tolist(),
            implementation="prpack",
        )
        scores = np.asarray(shares)
        return [(self._ids[row], float(scores[row])) for row in top_rows(scores, k=k, ids=self._order)]


def _synonyms(vectors: NDArray[np.float32], *, floor: float) -> Iterator[tuple[int, int, float]]:
    """Yield (entity, entity, cosine) of pairs that are at least `floor` alike, smaller number first."""
    import numpy as np

    rows = np.flatnonzero(vectors.any(axis=1))
    known = vectors[rows]
    for start in range(0, len(rows), _BLOCK_ROWS):
        similar = known[start : start + _BLOCK_ROWS] @ known.T
        left, right = np.nonzero(similar >= floor)
        for a, b in zip(left.tolist(), right.tolist(), strict=True):
            if a + start < b:
                yield int(rows[a + start]), int(rows[b]), float(similar[a, b])
