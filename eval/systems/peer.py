"""What the peers share that rank passages by PageRank: the bench's graph and vectors, made ready once."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, ClassVar

from eval.cache import code_digest
from eval.systems.base import Answer, Bench, FoundAnchor, ranked
from eval.systems.clock import Stopwatch
from eval.systems.pagerank import PassageGraph
from eval.systems.sidecars import building_digest

__all__ = ["PageRankPeer"]


class PageRankPeer(ABC):
    """A peer over `PassageGraph`: it says how its graph is made, indexes what else it needs, and answers."""

    name: str
    graph_options: ClassVar[Mapping[str, Any]]
    """What `PassageGraph` is told: facts, synonym_cosine, weigh_mentions."""

    def identity(self) -> Mapping[str, object]:
        """Depend on the peer's own file, on this one, the PageRank and the graph."""
        here = Path(__file__).parent
        own = Path(str(sys.modules[type(self).__module__].__file__))
        return {
            "code": code_digest(own, Path(__file__), here / "pagerank.py", here.parent / "graph"),
            "graph": building_digest(),
        }

    def prepare(self, bench: Bench) -> Mapping[str, float]:
        """Build the graph once."""
        self._dense = bench.dense
        self._depth = bench.config.depth
        self._ids = [passage.id for passage in bench.data.passages]
        start = perf_counter()
        self._graph = bench.graph
        self._walk = PassageGraph(self.name, bench.data, self._graph, **self.graph_options)
        self._index()
        return {
            "build_s": perf_counter() - start,
            "nodes": self._walk.node_count,
            "edges": self._walk.edge_count,
        }

    @abstractmethod
    def _index(self) -> None:
        """Make ready what the peer needs beside the graph."""

    def _answer(
        self,
        pairs: Sequence[tuple[str, float]],
        stages: Mapping[str, Stopwatch],
        *,
        anchors: tuple[FoundAnchor, ...] | None = None,
    ) -> Answer:
        """Return ranked passages with the time of the stages, which together are the call's."""
        ids, scores = ranked(pairs)
        return Answer(
            ranking=ids,
            scores=scores,
            elapsed_ms=sum(clock.wall_ms for clock in stages.values()),
            cpu_ms=sum(clock.cpu_ms for clock in stages.values()),
            stages_ms={stage: clock.wall_ms for stage, clock in stages.items()},
            anchors=anchors,
        )

    def close(self) -> None:  # noqa: B027 - nothing to do is what peers do here
        """Nothing is held."""
