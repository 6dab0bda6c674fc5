"""The three files of vectors that a build writes, and what it asks of them."""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import groupby
from pathlib import Path
from typing import Any

from latence_retrieval.build.graph import PairDots, Similarity
from latence_retrieval.build.scratch import Scratch
from latence_retrieval.build.vectors import VectorSink
from latence_retrieval.vectors import VectorFile

__all__ = ["Sinks"]

_FILES = {"entity": "entity_vecs.f32", "chunk": "chunk_vecs.f32", "relation": "relation_vecs.f32"}
_CONTEXT_CHUNKS = 64  # chunks averaged for an entity that has no vector of its own


class Sinks:
    """The files of entity, chunk and relation vectors in the making.

    Attributes:
        entity, chunk, relation: where rows are added.
        dimension: of all three, after `finish`; None where there are no vectors at all.
    """

    def __init__(
        self,
        directory: Path,
        stack: ExitStack,
        *,
        entity: Iterator[Sequence[float]] | None,
        chunk: Iterator[Sequence[float]] | None,
        relation: Iterator[Sequence[float]] | None,
    ) -> None:
        """Open the files; `stack` closes them. The sources give one row a record, or are None."""
        self._stack = stack
        self.entity, self.chunk, self.relation = (
            stack.enter_context(VectorSink(directory / _FILES[name], f"{name}_vectors", rows))
            for name, rows in (("entity", entity), ("chunk", chunk), ("relation", relation))
        )
        self.dimension: int | None = None

    def named(self) -> Iterator[tuple[str, VectorSink]]:
        """Yield the sinks with their names."""
        yield "entity", self.entity
        yield "chunk", self.chunk
        yield "relation", self.relation

    def finish(self) -> None:
        """Check that the sources are used up and agree on a dimension; see `VectorSink.finish`."""
        for _, sink in self.named():
            self.dimension = sink.finish(self.dimension) or self.dimension

    def similarity(self, scratch: Scratch) -> Similarity | None:
        """Compare chunks with entities by vectors: the entity's first own chunk stands for it, else its vector."""
        if not self.chunk.present or self.dimension is None:
            return None
        chunk_file = self._open(self.chunk, self.dimension)
        entity_file = self._open(self.entity, self.dimension) if self.entity.present else None
        first_about = "SELECT min(chunk) FROM about WHERE entity = ?"
        scratch.run("CREATE INDEX about_by_entity ON about (entity, chunk)")

        def similarity(chunk: int, entity: int) -> float | None:
            own = scratch.cached(first_about, str(entity))
            query = chunk_file.row(chunk)
            if own is not None:
                return chunk_file.dots(query, [own])[0]
            if entity_file is not None and any(entity_file.row(entity)):
                return entity_file.dots(query, [entity])[0]
            return None

        return similarity

    def pair_dots(self) -> PairDots | None:
        """Compare entities with chunks by their vectors; None where either has none at all."""
        if not self.entity.present or not self.chunk.present or self.dimension is None:
            return None
        entity_file, chunk_file = self._open(self.entity, self.dimension), self._open(self.chunk, self.dimension)

        def pair_dots(entities: Sequence[int], chunks: Sequence[int]) -> list[float | None]:
            dots = entity_file.pair_dots(entities, chunk_file, chunks)
            return [
                None if dot == 0.0 and (entity_file.is_absent(entity) or chunk_file.is_absent(chunk)) else dot
                for dot, entity, chunk in zip(dots, entities, chunks, strict=True)
            ]

        return pair_dots

    def _open(self, sink: VectorSink, dimension: int) -> VectorFile:
        file = VectorFile(sink.path, dimension=dimension, count=sink.count)
        self._stack.callback(file.close)
        return file

    def keep_present(self, digest: Any) -> tuple[str, ...]:
        """Drop files that hold no vector, and return the names of the rest."""
        kept = []
        for name, sink in self.named():
            if sink.present:
                kept.append(name)
                with sink.path.open("rb") as stream:
                    digest.update(hashlib.file_digest(stream, "sha256").digest())
            else:
                sink.path.unlink()
        return tuple(kept)

    def fill_entities(self, scratch: Scratch) -> None:
        """Give an entity without a vector the mean of its chunks: its own chunks, else those that mention it."""
        if self.chunk.present and self.dimension is not None:
            chunk_file = self._open(self.chunk, self.dimension)
            self.entity.fill(_context_means(scratch, chunk_file, self.entity), self.dimension)


def _context_means(scratch: Scratch, chunks: VectorFile, entities: VectorSink) -> Iterator[tuple[int, Sequence[float]]]:
    """Yield (entity, mean chunk vector) for those without a vector: their own chunks, else those that mention them."""
    scratch.run("CREATE TABLE context (entity INTEGER, is_mention INTEGER, chunk INTEGER)")
    scratch.many("INSERT INTO context VALUES (?, ?, ?)", _occurrences(scratch))
    query = "SELECT entity, is_mention, chunk FROM context ORDER BY entity, is_mention, chunk"
    for entity, rows in groupby(scratch.rows(query), key=lambda row: row[0]):
        if not entities.is_absent(entity):
            continue
        members = list(rows)
        numbers = [row[2] for row in members if row[1] == members[0][1]][:_CONTEXT_CHUNKS]
        vectors = [chunks.row(number) for number in numbers]
        yield entity, [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]


def _occurrences(scratch: Scratch) -> Iterator[tuple[int, bool, int]]:
    """Yield (entity, whether it is a mention rather than a subject, chunk)."""
    for chunk, subjects, entities in scratch.rows("SELECT chunk, subjects, entities FROM link"):
        for place, entity in enumerate(array("I", entities)):
            yield entity, place >= subjects, chunk
