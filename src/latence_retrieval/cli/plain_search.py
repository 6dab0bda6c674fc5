"""What plain lexical search gives: BM25 over the same chunks, packed under the same budget by the same counter."""

from __future__ import annotations

from collections.abc import Sequence

from latence_retrieval.lexical.bm25 import Bm25
from latence_retrieval.lexical.postings import KeyValuePostings
from latence_retrieval.lexical.terms import Analyser, analyser_named
from latence_retrieval.prompt import packed_text
from latence_retrieval.records import Chunk
from latence_retrieval.select.tokens import estimate_tokens
from latence_retrieval.sidecar.read import Sidecar

__all__ = ["pack_in_order", "rank_lexically"]


def rank_lexically(sidecar: Sidecar, query: str) -> list[Chunk]:
    """Return every chunk that shares a term with the query, best first, equal scores by ascending id."""
    postings = KeyValuePostings(sidecar.reader)
    analyser = analyser_named(postings.stats.analyser) or Analyser("plain-1")
    found = Bm25(postings).top(
        analyser.terms(query),
        sidecar.manifest.counts.chunks,
        ids=lambda numbers: [chunk.id for chunk in sidecar.chunks(numbers)],
    )
    return sidecar.chunks([number for number, _ in found])


def pack_in_order(chunks: Sequence[Chunk], *, budget_tokens: int) -> tuple[list[Chunk], int]:
    """Return the chunks that fit, best first, one that does not fit skipped, and what they cost together.

    At least as many as a packer that stops at the first one that does not fit.
    """
    packed: list[Chunk] = []
    tokens = 0
    for chunk in chunks:
        total = estimate_tokens(packed_text([*packed, chunk]))
        if total <= budget_tokens:
            packed.append(chunk)
            tokens = total
    return packed, tokens
