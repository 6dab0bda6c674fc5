"""Writes posting lists in bounded memory: counts chunk by chunk, spills sorted runs, merges them as a stream.

Use:
    with PostingsWriter(analyser=ANALYSERS["english-1"]) as writer:
        for number, text in chunks:                 # numbers ascend
            writer.add(number, text)
        store.put_many(Table.TERM, writer.rows())   # then writer.stats is final
"""

from __future__ import annotations

import heapq
import struct
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from latence_retrieval.errors import InvalidInputError
from latence_retrieval.lexical.posting_blocks import BLOCK_SIZE, encode_block
from latence_retrieval.lexical.postings import (
    STATS_KEY,
    PostingStats,
    block_key,
    encode_head,
    encode_stats,
    head_key,
    impacts_of,
    term_bytes,
)
from latence_retrieval.lexical.terms import Analyser

__all__ = ["PostingsWriter"]

DEFAULT_BUFFER_BYTES = 64 << 20
"""Memory before a run is spilled: 64 MiB hold the postings of some 60,000 passages of a hundred words."""

_POSTING_BYTES = 14  # three 4-byte columns and the array's room to grow
_TERM_BYTES = 260  # an array, a key and a dictionary slot
_POSTING_STRUCT = struct.Struct("=III")
_RUN_STRUCT = struct.Struct("<HI")
_RUN_BUFFER_BYTES = 1 << 18

_Run = Iterator[tuple[bytes, "array[int]"]]
"""Terms ascending, each with flat triples of chunk number, frequency and length."""


class PostingsWriter:
    """Accumulates the postings of a corpus and gives them back as rows of `Table.TERM`."""

    def __init__(
        self,
        *,
        analyser: Analyser,
        buffer_bytes: int = DEFAULT_BUFFER_BYTES,
        directory: Path | None = None,
    ) -> None:
        """Start an empty index.

        Args:
            analyser: makes the terms; its name is stored with the statistics.
            buffer_bytes: memory to use before postings go to a temporary file; an estimate, at least 64 KiB.
            directory: where temporary files go; None for the system's own place.
        """
        if buffer_bytes < 1 << 16:
            raise InvalidInputError("buffer_bytes", f"is {buffer_bytes}", fix="give at least 65536")
        self.analyser = analyser
        self._buffer_bytes = buffer_bytes
        self._directory = directory
        self._postings = _Postings()
        self._runs: list[IO[bytes]] = []
        self._last_number = -1
        self._documents = 0
        self._total_length = 0

    @property
    def stats(self) -> PostingStats:
        """Statistics of what was added so far."""
        return PostingStats(self._documents, self._total_length, self.analyser.name)

    def add(self, number: int, text: str) -> int:
        """Index one chunk.

        Args:
            number: the chunk's number, above every one before it, below 2**32.
            text: what is searched, usually the title and the text.

        Returns:
            The chunk's length in index terms.

        Raises:
            InvalidInputError: the number does not ascend.
        """
        return self.add_terms(number, self.analyser.terms(text))

    def add_terms(self, number: int, terms: Sequence[str]) -> int:
        """Index one chunk whose terms the analyser has made already; as `add` in all else."""
        if not self._last_number < number < 1 << 32:
            raise InvalidInputError(
                "number", f"is {number} after {self._last_number}", fix="add chunks by ascending number below 2**32"
            )
        length = len(terms)
        counts = Counter(terms)
        postings = self._postings
        once = _POSTING_STRUCT.pack(number, 1, length)
        for term, frequency in counts.items():
            postings[term] += once if frequency == 1 else _POSTING_STRUCT.pack(number, frequency, length)
        postings.held_bytes += _POSTING_BYTES * len(counts)
        self._last_number = number
        self._documents += 1
        self._total_length += length
        if postings.held_bytes > self._buffer_bytes:
            self._spill()
        return length

    def rows(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows of `Table.TERM` in ascending key order; may be asked again once the last answer is used up."""
        yield STATS_KEY, encode_stats(self.stats)
        if not self._runs:
            for term, triples in self._sorted_postings():
                yield from _list_rows(term, [triples])
            return
        runs = [*map(_read_run, self._runs), self._sorted_postings()]
        # Runs hold ascending chunk numbers, and a merge is stable: a term's parts arrive in order of number.
        for term, parts in groupby(heapq.merge(*runs, key=itemgetter(0)), key=itemgetter(0)):
            yield from _list_rows(term, [triples for _, triples in parts])

    def close(self) -> None:
        """Remove the temporary files; allowed twice."""
        for run in self._runs:
            run.close()
        self._runs.clear()
        self._postings.clear()

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def _sorted_postings(self) -> _Run:
        keyed = {term_bytes(term): postings for term, postings in self._postings.items()}
        for term in sorted(keyed):
            yield term, array("I", bytes(keyed[term]))

    def _spill(self) -> None:
        run = tempfile.TemporaryFile(buffering=_RUN_BUFFER_BYTES, dir=self._directory)  # noqa: SIM115 - kept open
        self._runs.append(run)
        for term, triples in self._sorted_postings():
            run.write(_RUN_STRUCT.pack(len(term), len(triples)))
            run.write(term)
            run.write(triples.tobytes())
        self._postings = _Postings()


class _Postings(dict[str, bytearray]):
    """Lists of packed postings that begin when they are asked for, and what memory they take."""

    held_bytes = 0

    def __missing__(self, term: str) -> bytearray:
        self.held_bytes += _TERM_BYTES + 2 * len(term)
        return bytearray()


def _read_run(run: IO[bytes]) -> _Run:
    run.seek(0)
    while True:
        header = run.read(_RUN_STRUCT.size)
        if not header:
            return
        term_size, count = _RUN_STRUCT.unpack(header)
        term = run.read(term_size)
        triples = array("I")
        triples.frombytes(run.read(count * triples.itemsize))
        yield term, triples


def _list_rows(term: bytes, parts: Sequence[array[int]]) -> Iterator[tuple[bytes, bytes]]:
    """Yield the block rows of one list, then its head."""
    size = sum(map(len, parts))
    document_frequency = size // 3
    if document_frequency == 1:  # half of all terms are in one chunk only
        number, frequency, length = parts[0]
        inline = encode_block((number,), (frequency,), (length,))
        yield head_key(term), encode_head(1, ((frequency, length),), (), inline)
        return
    impacts = impacts_of(_least_lengths(parts))
    width = 3 * BLOCK_SIZE
    if size <= width:
        triples = parts[0] if len(parts) == 1 else array("I", chain.from_iterable(parts))
        inline = encode_block(triples[::3], triples[1::3], triples[2::3])
        yield head_key(term), encode_head(document_frequency, impacts, (), inline)
        return
    firsts: array[int] = array("I")
    pending: array[int] = array("I")
    for part in parts:
        pending.extend(part)
        start = 0
        while len(pending) - start > width:
            yield _block_row(term, firsts, pending[start : start + width])
            start += width
        del pending[:start]
    yield _block_row(term, firsts, pending)
    yield head_key(term), encode_head(document_frequency, impacts, firsts)


def _least_lengths(parts: Iterable[array[int]]) -> dict[int, int]:
    """Return the length of the shortest chunk that has the term so often, by that number."""
    least: dict[int, int] = {}
    for part in parts:
        for frequency, length in set(zip(part[1::3], part[2::3], strict=True)):
            if length < least.get(frequency, length + 1):
                least[frequency] = length
    return least


def _block_row(term: bytes, firsts: array[int], triples: array[int]) -> tuple[bytes, bytes]:
    key = block_key(term, len(firsts))
    firsts.append(triples[0])
    return key, encode_block(triples[::3], triples[1::3], triples[2::3])
