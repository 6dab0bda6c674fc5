"""A peer in the style of LinearRAG: semantic bridging from entity to entity, then PageRank over passages.

Zhuang et al., LinearRAG: Linear Graph Retrieval Augmented Generation on Large-scale Corpora, 2025 (arXiv
2510.10114), section 4. Written from the paper: question entities seed the activation; it spreads from
entity to sentence to entity, each step scaled by the similarity of the question and the sentence, and what
falls under a threshold is dropped; a passage's seed is its dense score plus the activated entities that it
holds; PageRank ranks passages.

Departures: question entities come from the bench's linker, as the library's tier 1 does, instead of spaCy;
where sentences have no vectors the passage's own similarity stands for each of its sentences.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from eval.data.records import Question
from eval.systems.base import Answer, FoundAnchor
from eval.systems.clock import Stopwatch
from eval.systems.peer import PageRankPeer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["LinearRagStyle"]

ITERATIONS = 3
"""Bridging steps; the paper finds its best between two and four."""

THRESHOLD = 0.4
"""Activation under which an entity is dropped (δ in the paper)."""

PASSAGE_RATIO = 1.5
"""Weight of the dense score against entity evidence in a passage's seed (λ in the paper)."""

PASSAGE_WEIGHT = 0.05
"""Weight of passage seeds against entity seeds."""

DAMPING = 0.5
"""As HippoRAG 2, which the paper follows here."""

SENTENCES_KEPT = 10
"""Passages followed from one entity in one step, the most similar first."""


class LinearRagStyle(PageRankPeer):
    """LinearRAG's query path on the bench's graph."""

    name = "linearrag-style"
    graph_options = {"facts": False, "weigh_mentions": True}  # noqa: RUF012 - ClassVar by its base

    def _index(self) -> None:
        """Need nothing beside the graph."""

    def answer(self, question: Question) -> Answer:
        """Seed, bridge, walk, rank; without a question entity the dense ranking stands, as in the paper."""
        with Stopwatch() as bridging:
            dense = self._dense.scores(question)
            links = self._graph.link(question.text)
            activation = self._bridge({entity: 1.0 for entity, _, _ in links}, dense)
            reset = self._seeds(activation, dense)
        with Stopwatch() as walking:
            if links:
                pairs = self._walk.rank(reset, damping=DAMPING, k=self._depth)
            else:
                pairs = self._dense.search(question, k=self._depth)
        anchors = tuple(
            FoundAnchor(
                entity=str(entity),
                name=self._graph.names[entity],
                start=first,
                end=last,
                tier="link",
                passage_ids=tuple(self._ids[row] for row in self._graph.about_rows[entity]),
            )
            for entity, first, last in links
        )
        return self._answer(pairs, {"bridge": bridging, "walk": walking}, anchors=anchors)

    def _bridge(self, seeds: dict[int, float], dense: NDArray[np.float32]) -> dict[int, float]:
        activation = dict(seeds)
        frontier = dict(seeds)
        for _ in range(ITERATIONS):
            reached: dict[int, float] = {}
            for entity, value in frontier.items():
                rows = sorted(self._graph.passages_of[entity], key=lambda row: (-dense[row], row))[:SENTENCES_KEPT]
                for row in rows:
                    passed = value * float(dense[row])
                    if passed < THRESHOLD:
                        break
                    for other in self._graph.mentions[row]:
                        if passed > activation.get(other, 0.0) and passed > reached.get(other, 0.0):
                            reached[other] = passed
            if not reached:
                break
            activation |= reached
            frontier = reached
        return activation

    def _seeds(self, activation: Mapping[int, float], dense: NDArray[np.float32]) -> NDArray[np.float64]:
        import numpy as np

        reset = np.zeros(self._walk.node_count)
        held = np.zeros(len(self._ids))
        for entity, value in activation.items():
            reset[entity] = value
            for row in self._graph.passages_of[entity]:
                held[row] += value * math.log1p(self._graph.mentions[row][entity])
        low, high = float(dense.min()), float(dense.max())
        normal = (dense - low) / (high - low) if high > low else np.ones_like(dense)
        reset[self._walk.first_passage :] = (PASSAGE_RATIO * normal + np.log1p(held)) * PASSAGE_WEIGHT
        return reset
