"""Posting lists: a row of statistics, and for each term its blocks, then its head."""

from __future__ import annotations

from latence_retrieval.lexical.posting_blocks import PostingBlock, decode_block
from latence_retrieval.lexical.postings import STATS_KEY, decode_head, decode_stats
from latence_retrieval.lexical.terms import analyser_named
from latence_retrieval.sidecar.manifest import Manifest

__all__ = ["PostingChecks"]

_BLOCK_KEY_BYTES = 5  # a zero byte and the block's number
_HEAD = 0xFFFFFFFF


class PostingChecks:
    """Checks `Table.TERM`, row by row in key order."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._term: bytes | None = None  # of the blocks that await their head
        self._firsts: list[int] = []
        self._postings = 0
        self._last = -1

    def row(self, key: object, value: bytes) -> str | None:
        """Return what is wrong with a row, or None."""
        if not isinstance(key, bytes):
            return "has no key of bytes"
        if key == STATS_KEY:
            return self._stats(value)
        if len(key) <= _BLOCK_KEY_BYTES or key[-_BLOCK_KEY_BYTES] != 0:
            return "its key is no term with a block"
        term, block = key[:-_BLOCK_KEY_BYTES], int.from_bytes(key[-4:], "big")
        return self._head(term, value) if block == _HEAD else self._block(term, block, value)

    def end(self) -> str | None:
        """Return what is missing after the last row, or None."""
        return None if self._term is None else f"the blocks of {self._term!r} have no head"

    def _stats(self, value: bytes) -> str | None:
        stats = decode_stats(value)
        if analyser_named(stats.analyser) is None:
            return f"has index terms of analyser {stats.analyser!r}, which this release lacks"
        if stats.documents != self._manifest.counts.chunks:
            return f"counts {stats.documents} chunks, the manifest {self._manifest.counts.chunks}"
        if stats.total_length != self._manifest.indexed_length:
            return f"counts {stats.total_length} terms, the manifest {self._manifest.indexed_length}"
        return None

    def _block(self, term: bytes, block: int, value: bytes) -> str | None:
        if self._term not in (None, term):
            return f"the blocks of {self._term!r} have no head"
        if block != len(self._firsts):
            return f"is block {block}, expected {len(self._firsts)}"
        self._term = term
        return self._take(decode_block(value, 0))

    def _head(self, term: bytes, value: bytes) -> str | None:
        if self._term not in (None, term):
            return f"the blocks of {self._term!r} have no head"
        head = decode_head("", value)
        if head.inline is not None:
            problem = self._take(head.inline) if self._term is None else "has blocks, and its postings inline too"
        else:
            problem = None if list(head.firsts) == self._firsts else "names other blocks than there are"
        if problem is None and head.document_frequency != self._postings:
            problem = f"counts {head.document_frequency} chunks, its postings {self._postings}"
        self._term, self._firsts, self._postings, self._last = None, [], 0, -1
        return problem

    def _take(self, block: PostingBlock) -> str | None:
        numbers, frequencies, lengths = block.columns()
        if not numbers or not len(numbers) == len(frequencies) == len(lengths):
            return "has columns of different lengths, or none"
        for number in numbers:
            if not self._last < number < self._manifest.counts.chunks:
                return f"names chunk {number} after {self._last}, of {self._manifest.counts.chunks}"
            self._last = number
        if min(frequencies) < 1 or any(map(int.__gt__, frequencies, lengths)):
            return "has a frequency of zero, or above its chunk's length"
        self._firsts.append(numbers[0])
        self._postings += len(numbers)
        return None
