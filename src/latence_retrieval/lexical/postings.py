r"""Posting lists: their rows in `Table.TERM`, and the narrow protocol that BM25 ranks over.

A list says in which chunks a term occurs. It is cut into blocks of at most `posting_blocks.BLOCK_SIZE` postings,
ascending by chunk number, so that a reader who wants sixty chunks out of a million decodes only those that hold them.

Rows of `Table.TERM`, in key order (a term never contains a NUL, so the order is by term, then by block):

    b"\0"                          the statistics of the table (`PostingStats`)
    term + b"\0" + block (u32 BE)  one block; only where the list has more than one
    term + b"\0" + b"\xff" * 4      the head: document frequency, impacts, first chunk number of each block;
                                   a list of one block stands in its head, so that a rare term costs one read

The head comes last so that a list is written as a stream, in memory that does not grow with its length.
A posting carries the term's frequency and the chunk's length, both exact (`posting_blocks`), so that scoring needs
no read per chunk. Everything is little-endian.

Impacts are the pairs of frequency and length that no other posting of the list beats on both: they give the
exact maximum of BM25's term factor for whatever k1 and b a caller chooses (the idea of Lucene's impacts).

API: `PostingSource` (the protocol), `PostingList`, `PostingStats`, `KeyValuePostings` (reads a
sidecar), and the codec (`encode_head`, …) that `postings_writer.PostingsWriter` uses. Lists that
grow and shrink chunk by chunk are in `memory_postings.MemoryPostings`.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Protocol

from latence_retrieval.errors import SidecarCorruptError, SidecarVersionError
from latence_retrieval.lexical.posting_blocks import PostingBlock, decode_block, pack_column, unpack_column
from latence_retrieval.ports.key_value import KeyValueReader, Table

__all__ = [
    "Impact",
    "KeyValuePostings",
    "PostingList",
    "PostingSource",
    "PostingStats",
    "block_key",
    "encode_head",
    "encode_stats",
    "head_key",
    "impacts_of",
    "term_bytes",
]

FORMAT = 1
"""Version of the rows; a reader refuses a higher one."""

STATS_KEY = b"\x00"
_HEAD = 0xFFFFFFFF  # the block number that a head stands under: after all blocks
_MAX_TERM_BYTES = 240
_MAX_IMPACTS = 24
_STATS_STRUCT = struct.Struct("<BQQ")
_HEAD_STRUCT = struct.Struct("<BBII")
_IMPACT_STRUCT = struct.Struct("<II")

Impact = tuple[int, int]
"""A frequency and a length that no other posting of the list beats on both."""


@dataclass(frozen=True, slots=True)
class PostingStats:
    """What BM25 needs to know of the whole corpus.

    Attributes:
        documents: number of indexed chunks, those without any term included.
        total_length: index terms in all of them.
        analyser: name of the analyser that made the terms; queries must use the same.
    """

    documents: int
    total_length: int
    analyser: str

    @property
    def average_length(self) -> float:
        """Mean index terms a chunk; 1.0 for an empty corpus, so that nothing divides by zero."""
        return self.total_length / self.documents if self.total_length else 1.0


@dataclass(slots=True)
class PostingList:
    """The head of one term's list.

    Attributes:
        term: the index term.
        document_frequency: chunks that contain it, at least 1.
        impacts: bound the term's contribution, see the module's docstring.
        inline: the postings, where the whole list is at hand.
        firsts: first chunk number of each block, where it is not.
    """

    term: str
    document_frequency: int
    impacts: Sequence[Impact]
    inline: PostingBlock | None = None
    firsts: Sequence[int] = ()


class PostingSource(Protocol):
    """Where BM25 reads: a corpus' statistics and its posting lists."""

    @property
    def stats(self) -> PostingStats:
        """Statistics over all chunks."""
        ...

    def lists(self, terms: Sequence[str]) -> list[PostingList | None]:
        """Return the head of each term's list, None where no chunk has the term; in the order asked."""
        ...

    def blocks(self, posting_list: PostingList) -> Iterator[PostingBlock]:
        """Yield all blocks of a list, ascending by chunk number."""
        ...

    def find(
        self, posting_lists: Sequence[PostingList], numbers: Sequence[int]
    ) -> list[Iterable[tuple[int, int, int]]]:
        """For each list, give (chunk number, frequency, length) of those of `numbers` that it holds.

        `numbers` ascends without repetition. Only blocks that may hold one of them are read.
        """
        ...


class KeyValuePostings:
    """Posting lists in `Table.TERM` of a snapshot. Holds no state beyond the statistics; safe for threads."""

    def __init__(self, reader: KeyValueReader, *, path: Path | str = "postings") -> None:
        """Read the statistics.

        Args:
            reader: an open snapshot; stays the caller's to close.
            path: where it is, for messages.

        Raises:
            SidecarVersionError: rows of a newer format.
        """
        self._reader = reader
        self._path = path
        value = reader.get(Table.TERM, STATS_KEY)
        self._stats = decode_stats(value, path) if value is not None else PostingStats(0, 0, "")

    @property
    def stats(self) -> PostingStats:
        """Statistics over all chunks; zero where the snapshot has no postings."""
        return self._stats

    def lists(self, terms: Sequence[str]) -> list[PostingList | None]:
        """Read the heads in one batch."""
        values = self._reader.get_many(Table.TERM, [head_key(term_bytes(term)) for term in terms])
        return [None if value is None else decode_head(term, value) for term, value in zip(terms, values, strict=True)]

    def blocks(self, posting_list: PostingList) -> Iterator[PostingBlock]:
        """Read the blocks one by one, so that a caller who stops early pays no more."""
        if posting_list.inline is not None:
            yield posting_list.inline
            return
        term = term_bytes(posting_list.term)
        for block in range(len(posting_list.firsts)):
            yield self._decoded(self._reader.get(Table.TERM, block_key(term, block)), posting_list.term)

    def find(
        self, posting_lists: Sequence[PostingList], numbers: Sequence[int]
    ) -> list[Iterable[tuple[int, int, int]]]:
        """Read the blocks that may hold one of `numbers`, of all lists in one batch."""
        keys: list[int | bytes] = []
        runs: list[tuple[int, int, int]] = []  # place in `posting_lists`, from, to in `numbers`
        for place, posting_list in enumerate(posting_lists):
            if posting_list.inline is None:
                term = term_bytes(posting_list.term)
                for block, start, stop in _runs(posting_list.firsts, numbers):
                    keys.append(block_key(term, block))
                    runs.append((place, start, stop))
        found: list[list[tuple[int, int, int]]] = [
            posting_list.inline.find(numbers) if posting_list.inline is not None and numbers else []
            for posting_list in posting_lists
        ]
        for (place, start, stop), value in zip(runs, self._reader.get_many(Table.TERM, keys), strict=True):
            block_found = self._decoded(value, posting_lists[place].term).find(numbers[start:stop])
            found[place].extend(block_found)
        return list(found)

    def _decoded(self, value: bytes | None, term: str) -> PostingBlock:
        if value is None:
            raise SidecarCorruptError(self._path, f"a block of term {term!r} is missing", fix="build it again")
        return decode_block(value, 0)


def _runs(firsts: Sequence[int], numbers: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    """Yield (block, start, stop): `numbers[start:stop]` can only be in that block."""
    start, count, last = 0, len(numbers), len(firsts) - 1
    while start < count:
        block = bisect_right(firsts, numbers[start]) - 1
        if block < 0:
            start = bisect_left(numbers, firsts[0], start)
            continue
        stop = count if block == last else bisect_left(numbers, firsts[block + 1], start)
        yield block, start, stop
        start = stop


# ---- codec ----------------------------------------------------------------------------------------------


def term_bytes(term: str) -> bytes:
    """Return the term as it stands in keys: UTF-8, and past 240 bytes a prefix with a 128-bit digest."""
    encoded = term.encode("utf-8", "surrogatepass").replace(b"\x00", b"\x01")
    if len(encoded) <= _MAX_TERM_BYTES:
        return encoded
    return encoded[:64] + b"\x01" + blake2b(encoded, digest_size=16).hexdigest().encode()


def head_key(term: bytes) -> bytes:
    """Return the key of a list's head."""
    return block_key(term, _HEAD)


def block_key(term: bytes, block: int) -> bytes:
    """Return the key of a list's block, counted from 0."""
    return term + b"\x00" + block.to_bytes(4, "big")


def impacts_of(pairs: Mapping[int, int]) -> list[Impact]:
    """Keep the pairs of frequency and length (given: the least length per frequency) that no other beats.

    At most 24 are kept: past that, the rest is bounded by its highest frequency and its least length.
    """
    kept: list[Impact] = []
    for frequency in sorted(pairs, reverse=True):
        if not kept or pairs[frequency] < kept[-1][1]:
            kept.append((frequency, pairs[frequency]))
    if len(kept) > _MAX_IMPACTS:
        rest = kept[_MAX_IMPACTS - 1 :]
        kept = [*kept[: _MAX_IMPACTS - 1], (rest[0][0], rest[-1][1])]
    return kept


def encode_stats(stats: PostingStats) -> bytes:
    """Return the row of the table's statistics."""
    return _STATS_STRUCT.pack(FORMAT, stats.documents, stats.total_length) + stats.analyser.encode()


def decode_stats(value: bytes, path: Path | str = "postings") -> PostingStats:
    """Read the row of the table's statistics; `path` is for the message.

    Raises:
        SidecarVersionError: rows of a newer format.
    """
    version, documents, total_length = _STATS_STRUCT.unpack_from(value)
    if version > FORMAT:
        raise SidecarVersionError(
            path, f"its postings have format {version}, this release reads {FORMAT}", fix="upgrade latence-retrieval"
        )
    return PostingStats(documents, total_length, value[_STATS_STRUCT.size :].decode())


def encode_head(
    document_frequency: int, impacts: Sequence[Impact], firsts: Sequence[int], inline: bytes = b""
) -> bytes:
    """Return a head row; `inline` is the one encoded block of a list without block rows."""
    head = _HEAD_STRUCT.pack(FORMAT, len(impacts), document_frequency, len(firsts))
    bounds = b"".join([_IMPACT_STRUCT.pack(*impact) for impact in impacts])
    return head + bounds + (pack_column(array("I", firsts)) if firsts else b"") + inline


def decode_head(term: str, value: bytes) -> PostingList:
    """Read a head row."""
    _, impact_count, document_frequency, block_count = _HEAD_STRUCT.unpack_from(value)
    start = _HEAD_STRUCT.size + 8 * impact_count
    impacts = list(struct.iter_unpack("<II", value[_HEAD_STRUCT.size : start]))
    if block_count:
        firsts = unpack_column("I", value[start : start + 4 * block_count])
        return PostingList(term, document_frequency, impacts, None, firsts)
    return PostingList(term, document_frequency, impacts, decode_block(value, start))
