"""How a passage is packed: one block a passage, with the number that answers cite."""

from __future__ import annotations

from collections.abc import Sequence

from latence_retrieval.records import Chunk

__all__ = ["SEPARATOR", "packed_block", "packed_text"]

SEPARATOR = "\n\n"


def packed_block(citation: int, chunk: Chunk) -> str:
    """Return a passage with its citation number, title and source."""
    source = chunk.source or chunk.document_id
    title = chunk.title or ""
    heading = f"{title} ({source})" if title and source else title or source or ""
    return f"[{citation}] {heading}\n{chunk.text}" if heading else f"[{citation}] {chunk.text}"


def packed_text(chunks: Sequence[Chunk]) -> str:
    """Return all passages, numbered from one."""
    return SEPARATOR.join(packed_block(citation, chunk) for citation, chunk in enumerate(chunks, start=1))
