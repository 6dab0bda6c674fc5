"""The library's `ChunkRetriever` over the sidecar: semantic, lexical, or both fused by rank. It ranks and does not hop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

from eval.cache import code_digest
from eval.data.records import Question
from eval.errors import SystemUnavailable
from eval.machine import library_digest
from eval.systems.base import Answer, Bench, ranked
from eval.systems.clock import Stopwatch
from eval.systems.sidecars import built_sidecar

__all__ = ["MODES", "ChunkSearch"]

MODES = {"chunks-hybrid": "hybrid", "chunks-semantic": "semantic", "chunks-lexical": "lexical"}
"""System name to the retriever's mode."""

_TENANT = "eval"


class _GivenEmbeddings:
    """A provider that is never asked: each question's vector is handed over with it."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Refuse: the harness computes no embedding while it measures."""
        raise SystemUnavailable("chunk retriever", f"it asked for {len(texts)} embeddings")


class ChunkSearch:
    """One mode of `ChunkRetriever`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._mode = MODES[name]
        self._open = ExitStack()

    def identity(self) -> Mapping[str, object]:
        """Depend on the library's whole source and on this adapter."""
        return {"library": library_digest(), "adapter": code_digest(Path(__file__)), "mode": self._mode}

    def prepare(self, bench: Bench) -> Mapping[str, float]:
        """Open the sidecar and keep it open, as an adopter of this surface does."""
        from latence_retrieval.chunks import ChunkRetriever
        from latence_retrieval.sidecar.read import Sidecar
        from latence_retrieval.sidecar_stores import SidecarChunkStore

        vectors = bench.data.vectors
        if self._mode != "lexical" and vectors is None:
            raise SystemUnavailable(self.name, f"{bench.data.name} has no vectors")
        path, figures = built_sidecar(bench)
        store = SidecarChunkStore({_TENANT: self._open.enter_context(Sidecar.open(path))})
        if vectors is None:
            self._retriever = ChunkRetriever.lexical_only(chunks=store)
        else:
            provider = _GivenEmbeddings(int(vectors.queries.shape[1]))
            self._retriever = ChunkRetriever(embeddings=provider, chunks=store)
        self._vectors = vectors
        self._depth = bench.config.depth
        return figures

    def answer(self, question: Question) -> Answer:
        """Ask for as many passages as the harness packs."""
        rows = self._vectors
        embedding = None if rows is None or self._mode == "lexical" else rows.queries[question.row].tolist()
        with Stopwatch() as clock:
            result = self._retriever.retrieve_chunks_blocking(
                question.text, _TENANT, k=self._depth, mode=self._mode, embedding=embedding
            )
        ids, scores = ranked([(match.chunk.id, match.score) for match in result.matches])
        return Answer(ranking=ids, scores=scores, elapsed_ms=clock.wall_ms, cpu_ms=clock.cpu_ms)

    def close(self) -> None:
        """Close the sidecar."""
        self._open.close()
