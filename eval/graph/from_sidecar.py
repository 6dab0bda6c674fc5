"""The entity graph as the library's own sidecar has it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from eval.graph.entity_graph import EntityGraph
from eval.graph.linking import forms_of_names

if TYPE_CHECKING:
    from eval.data.records import EvalSet

__all__ = ["graph_of_sidecar"]

_BLOCK = 512
"""Records read at a time."""


def graph_of_sidecar(path: Path, data: EvalSet) -> EntityGraph:
    """Read entities, aliases, links and entity vectors out of a sidecar of this set.

    A mention counts as often as sentences (and the title) name the entity.
    """
    import numpy as np

    from latence_retrieval.sidecar.read import Sidecar

    with Sidecar.open(path) as sidecar:
        total = sidecar.manifest.counts.entities
        entities = [
            entity
            for start in range(0, total, _BLOCK)
            for entity in sidecar.entities(range(start, min(total, start + _BLOCK)))
        ]
        chunks = sidecar.chunk_numbers([item.id for item in data.passages])
        links = sidecar.links([-1 if number is None else number for number in chunks])
        rows = sidecar.entity_vectors
        vectors = None
        if rows is not None:
            raw = np.fromfile(path / "entity_vecs.f32", dtype="<f4")
            vectors = np.ascontiguousarray(raw.reshape(total, -1), dtype=np.float32)
    about: list[tuple[int, ...]] = []
    mentions: list[dict[int, int]] = []
    for found in links:
        if found is None:
            about.append(())
            mentions.append({})
            continue
        numbers = [int(entity) >> 1 for entity in found.entities]
        about.append(tuple(numbers[: found.subjects]))
        counts = {n: max(1, int(mask).bit_count()) for n, mask in zip(numbers, found.masks, strict=True)}
        mentions.append(dict(sorted(counts.items())))
    forms = [(entity.name, *entity.aliases) for entity in entities]
    return EntityGraph(
        names=[entity.name for entity in entities],
        about=about,
        mentions=mentions,
        forms=forms_of_names(forms),
        ids=[entity.id for entity in entities],
        origin="the library's sidecar",
        vectors=vectors,
    )
