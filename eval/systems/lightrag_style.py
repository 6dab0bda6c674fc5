"""A peer in the style of LightRAG: nearest entities, their one-hop neighbours, and the passages of those.

Guo et al., LightRAG: Simple and Fast Retrieval-Augmented Generation, Findings of EMNLP 2025 (arXiv
2410.05779), section 3.2. Written from the paper: the entities nearest to the question are retrieved, each
brings its one-hop neighbours, and a passage of an entity ranks by the entity's place, then by how many of
the entity's neighbours it holds; the mixed mode takes turns between that list and the dense one.

Departure: no language model extracts keywords, so the question's own vector stands for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

from eval.cache import code_digest
from eval.data.records import Question
from eval.errors import SystemUnavailable
from eval.systems.base import Answer, Bench
from eval.systems.clock import Stopwatch
from eval.systems.sidecars import building_digest

__all__ = ["LightRagStyle"]

ENTITIES = 60
"""`top_k` of the authors' release: entities retrieved."""

PASSAGES_PER_ENTITY = 5
"""Passages that one entity may bring, so that a hub does not fill the list."""


class LightRagStyle:
    """LightRAG's mixed mode on the bench's graph."""

    name = "lightrag-style"

    def identity(self) -> Mapping[str, object]:
        """Depend on this file and the graph."""
        here = Path(__file__).parent
        return {"code": code_digest(Path(__file__), here.parent / "graph"), "graph": building_digest()}

    def prepare(self, bench: Bench) -> Mapping[str, float]:
        """Index neighbours once."""
        self._dense = bench.dense
        self._depth = bench.config.depth
        self._ids = [passage.id for passage in bench.data.passages]
        start = perf_counter()
        self._graph = bench.graph
        if self._graph.vectors is None:
            raise SystemUnavailable(self.name, "the set has no entity vectors")
        neighbours: list[set[int]] = [set() for _ in self._graph.names]
        for a, b, _ in self._graph.facts:
            neighbours[a].add(b)
            neighbours[b].add(a)
        self._neighbours = neighbours
        return {"build_s": perf_counter() - start}

    def answer(self, question: Question) -> Answer:
        """Retrieve entities, gather passages, take turns with the dense list."""
        with Stopwatch() as clock:
            local = self._local(question)
            near = [item for item, _ in self._dense.search(question, k=self._depth)]
            merged: list[str] = []
            for place in range(max(len(local), len(near))):
                merged.extend(channel[place] for channel in (near, local) if place < len(channel))
            ranking = tuple(dict.fromkeys(merged))[: self._depth]
        return Answer(ranking=ranking, elapsed_ms=clock.wall_ms, cpu_ms=clock.cpu_ms)

    def _local(self, question: Question) -> list[str]:
        from eval.systems.dense import top_rows

        vectors = self._graph.vectors
        if vectors is None:
            return []
        cosines = vectors @ self._dense.vectors.queries[question.row]
        found: dict[int, None] = {}
        for entity in top_rows(cosines, k=ENTITIES).tolist():
            around = self._neighbours[entity]
            rows = sorted(
                self._graph.passages_of[entity],
                key=lambda row: (-sum(other in around for other in self._graph.mentions[row]), row),
            )
            found.update(dict.fromkeys(rows[:PASSAGES_PER_ENTITY]))
            if len(found) >= self._depth:
                break
        return [self._ids[row] for row in found]

    def close(self) -> None:
        """Nothing is held."""
