"""Sort more rows than memory holds: sorted runs in temporary files, merged when read (Knuth, TAOCP 3, 5.4)."""

from __future__ import annotations

import heapq
import struct
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import IO, Self

__all__ = ["SpillSorter"]

_LENGTHS = struct.Struct("<II")
_ROW_OVERHEAD_BYTES = 130  # two bytes objects, a tuple and a list slot in CPython
_READ_BUFFER_BYTES = 1 << 18
_BATCH_ROWS = 256


class SpillSorter:
    """Collects (key, value) rows and yields them in ascending order of (key, value), in bounded memory.

    Use as a context manager, so that the runs are removed. Memory stays near `max_memory_bytes` while rows are
    added; reading takes a buffer of 256 KiB per run.
    """

    def __init__(self, directory: Path, *, max_memory_bytes: int) -> None:
        self._directory = directory
        self._max_memory_bytes = max_memory_bytes
        self._rows: list[tuple[bytes, bytes]] = []
        self._held_bytes = 0
        self._runs: list[IO[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def add(self, key: bytes, value: bytes) -> None:
        """Add one row; rows that are equal are kept each."""
        self._rows.append((key, value))
        self._held_bytes += len(key) + len(value) + _ROW_OVERHEAD_BYTES
        if self._held_bytes > self._max_memory_bytes:
            self._spill()

    def add_all(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Add rows as they come; the memory that they take is counted a batch at a time."""
        stream = iter(rows)
        while batch := list(islice(stream, _BATCH_ROWS)):
            self._rows += batch
            self._held_bytes += sum([len(key) + len(value) for key, value in batch]) + _ROW_OVERHEAD_BYTES * len(batch)
            if self._held_bytes > self._max_memory_bytes:
                self._spill()

    def __iter__(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield every row in ascending order; may be called again, but not while rows are still added."""
        self._rows.sort()
        if not self._runs:
            return iter(self._rows)
        return heapq.merge(*(self._read(run) for run in self._runs), iter(self._rows))

    def close(self) -> None:
        """Drop the rows and remove the runs."""
        for run in self._runs:
            run.close()
        self._runs.clear()
        self._rows.clear()

    def _spill(self) -> None:
        self._rows.sort()
        run = tempfile.TemporaryFile(dir=self._directory, prefix="run-", buffering=_READ_BUFFER_BYTES)  # noqa: SIM115
        pack = _LENGTHS.pack
        write = run.write
        for key, value in self._rows:
            write(pack(len(key), len(value)) + key + value)
        run.flush()
        self._runs.append(run)
        self._rows.clear()
        self._held_bytes = 0

    @staticmethod
    def _read(run: IO[bytes]) -> Iterator[tuple[bytes, bytes]]:
        position = 0
        buffer = b""
        size = _LENGTHS.size
        while True:
            run.seek(position)
            more = run.read(_READ_BUFFER_BYTES)
            if not more:
                return
            position += len(more)
            buffer += more
            at = 0
            end = len(buffer)
            while at + size <= end:
                key_length, value_length = _LENGTHS.unpack_from(buffer, at)
                middle = at + size + key_length
                stop = middle + value_length
                if stop > end:
                    break
                yield buffer[at + size : middle], buffer[middle:stop]
                at = stop
            buffer = buffer[at:]
