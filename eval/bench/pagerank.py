"""igraph's personalised PageRank (prpack) on the same knowledge base, as graph retrievers call it."""

from __future__ import annotations

import statistics
import time
from array import array
from typing import Any

from eval.bench.synthetic import SyntheticBase

__all__ = ["pagerank_ms"]

_DAMPING = 0.5
"""As HippoRAG 2 sets it."""

_SEEDS = 8


def pagerank_ms(base: SyntheticBase, *, repeats: int) -> dict[str, Any] | None:
    """Return the median milliseconds of one ranking over entities and chunks; None where igraph is absent.

    Nodes are entities and chunks; a chunk is tied to the entities of its facts, and so are those among themselves.
    """
    try:
        import igraph
        import numpy as np
    except ModuleNotFoundError:
        return None
    count = base.entity_count
    left, right = array("q"), array("q")
    for number in range(count):
        members = {number}
        for _, tied, _ in base.facts_of(number):
            members.update(tied)
            left.extend([tied[0]] * (len(tied) - 1))
            right.extend(tied[1:])
        left.extend([count + number] * len(members))
        right.extend(members)
    edges = np.stack([np.frombuffer(left, dtype="i8"), np.frombuffer(right, dtype="i8")], axis=1)
    graph = igraph.Graph(n=2 * count, edges=edges, directed=False)
    times = []
    for at in range(repeats):
        seeds = [(at * 7919 + step * 104_729) % count for step in range(_SEEDS)]
        before = time.thread_time()
        graph.personalized_pagerank(damping=_DAMPING, directed=False, reset_vertices=seeds, implementation="prpack")
        times.append((time.thread_time() - before) * 1e3)
    return {"nodes": 2 * count, "edges": len(left), "median_ms": round(statistics.median(times), 1)}
