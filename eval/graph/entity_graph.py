"""Entities, and which passages are about them or mention them, as plain arrays.

Where the library is installed the graph is read out of the very sidecar that its tiers use, so that peers
differ in how they walk and not in what they walk on. Else the plain linker of `linking.py` makes one.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from eval.graph.linking import Forms, link_corpus

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from eval.systems.base import Bench

__all__ = ["EntityGraph", "Fact", "build_graph"]

Fact = tuple[int, int, int]
"""(entity, entity, passage row): one statement, undirected."""


@dataclass(frozen=True)
class EntityGraph:
    """The graph.

    Attributes:
        names: one per entity; the entity's number is its place.
        about: per passage row, the entities that it is about.
        mentions: per passage row, entity to how often it is mentioned; what a passage is about is in it too.
        vectors: one unit row per entity, zeros where none is known; None without vectors.
        forms: by which names a question may call them.
        ids: the library's own ids; empty where the harness linked.
        origin: where the graph came from, for the results file.
    """

    names: Sequence[str]
    about: Sequence[Sequence[int]]
    mentions: Sequence[Mapping[int, int]]
    forms: Forms
    origin: str
    vectors: NDArray[np.float32] | None = None
    ids: Sequence[str] = ()

    @cached_property
    def number_of(self) -> Mapping[str, int]:
        """Entity id to number; without ids of its own an entity is called by its number."""
        ids = self.ids or [str(number) for number in range(len(self.names))]
        return {identifier: number for number, identifier in enumerate(ids)}

    @cached_property
    def passages_of(self) -> tuple[tuple[int, ...], ...]:
        """Per entity, the rows of the passages that mention it or are about it, ascending."""
        rows: list[list[int]] = [[] for _ in self.names]
        for row, found in enumerate(self.mentions):
            for entity in found:
                rows[entity].append(row)
        return tuple(tuple(found) for found in rows)

    @cached_property
    def about_rows(self) -> tuple[tuple[int, ...], ...]:
        """Per entity, the rows of the passages that are about it, ascending."""
        rows: list[list[int]] = [[] for _ in self.names]
        for row, found in enumerate(self.about):
            for entity in found:
                rows[entity].append(row)
        return tuple(tuple(found) for found in rows)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """One per pair of what a passage is about and what else it mentions, in passage order."""
        return tuple(
            (subject, other, row)
            for row, (subjects, found) in enumerate(zip(self.about, self.mentions, strict=True))
            for subject in subjects
            for other in sorted(found)
            if other != subject
        )

    def link(self, query: str) -> list[tuple[int, int, int]]:
        """Return (entity, start, end) of each entity that the query names, by place, then entity."""
        return self.forms.link(query)


def build_graph(bench: Bench) -> EntityGraph:
    """Return the entity graph of the bench's set: the sidecar's where the library is installed."""
    if importlib.util.find_spec("latence_retrieval") is not None:
        from eval.graph.from_sidecar import graph_of_sidecar
        from eval.systems.sidecars import built_sidecar

        path, _ = built_sidecar(bench)
        return graph_of_sidecar(path, bench.data)
    linked = link_corpus(bench.data.passages)
    return EntityGraph(
        names=linked.names,
        about=linked.about,
        mentions=linked.mentions,
        forms=linked.forms,
        origin="the harness's plain linker",
        vectors=_entity_vectors(bench, linked.about, len(linked.names)),
    )


def _entity_vectors(bench: Bench, about: Sequence[Sequence[int]], count: int) -> NDArray[np.float32] | None:
    """Return the title's vector for entities that a passage is about; other entities have none."""
    import numpy as np

    if bench.data.vectors is None or bench.data.vectors.entities is None:
        return None
    titles = bench.data.vectors.entities
    vectors = np.zeros((count, titles.shape[1]), dtype=np.float32)
    for row, subjects in enumerate(about):
        for entity in subjects:
            if not vectors[entity].any():
                vectors[entity] = titles[row]
    return vectors
