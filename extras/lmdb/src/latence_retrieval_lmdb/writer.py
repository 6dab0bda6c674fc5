"""`LmdbWriter`: large sorted batches into a file whose map grows as needed."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from latence_retrieval.ports.key_value import Key, Table
from latence_retrieval.sidecar.keys import AscendingRows, packed_rows
from latence_retrieval_lmdb.engine import lmdb

__all__ = ["LmdbWriter"]

_BATCH_BYTES = 4 << 20  # rows of one transaction; its dirty pages stay in memory until it commits
_ROW_OVERHEAD_BYTES = 128  # two bytes objects and a tuple in CPython
_FIRST_MAP_BYTES = 256 << 20
_COPY_BYTES = 8 << 20
_LIB_VERSION = 0
"""The 0.9 engine, data format 1: the one that every release of `lmdb` reads."""


class LmdbWriter:
    """Writes one file; pages are filled best when tables come in ascending order of their number.

    Nothing is flushed before `close`, and the same rows in the same order give the same bytes. `close` writes the file
    once more, in large writes (adr/0051), so that for a moment the disk holds it twice.
    """

    def __init__(self, path: Path) -> None:
        """Create the file. Use `LmdbBackend.create`."""
        self._path = path
        self._checked = AscendingRows()
        self._map_bytes = _FIRST_MAP_BYTES
        self._highest_table = 0
        self._is_closed = False
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        with _as_os_errors(path):
            self._environment = lmdb.open(
                os.fspath(path),
                subdir=False,
                lock=False,
                sync=False,
                metasync=False,
                map_size=self._map_bytes,
                max_dbs=0,
                lib_version=_LIB_VERSION,
            )

    def put_many(self, table: Table, rows: Iterable[tuple[Key, bytes]]) -> int:
        """Store rows, streamed in ascending key order; return how many.

        Raises:
            TypeError: a key of the wrong kind.
            ValueError: a key repeated, out of order or out of range; or the writer is closed.
            OSError: the file cannot be written.
        """
        if self._is_closed:
            raise ValueError(f"{self._path} is closed")
        is_append = table >= self._highest_table
        self._highest_table = max(self._highest_table, table)
        count = 0
        for batch, size_bytes in _transactions(packed_rows(table, batch) for batch in self._checked(table, rows)):
            with _as_os_errors(self._path):
                self._make_room(size_bytes)
                count += self._put(batch, is_append=is_append)
        return count

    def close(self) -> None:
        """Flush to disk and release the file; allowed twice."""
        if self._is_closed:
            return
        self._is_closed = True
        self._environment.close()
        _write_anew(self._path)

    def _put(self, batch: list[tuple[bytes, bytes]], *, is_append: bool) -> int:
        while True:
            try:
                with self._environment.begin(write=True) as transaction, transaction.cursor() as cursor:
                    _, added = cursor.putmulti(batch, append=is_append, overwrite=False)
                    return added
            except lmdb.MapFullError:  # the transaction was rolled back whole
                self._grow(2 * self._map_bytes)

    def _make_room(self, batch_bytes: int) -> None:
        """Grow the map so that a batch fits: half-full pages and copied branches included."""
        info = self._environment.info()
        used = (info["last_pgno"] + 1) * self._environment.stat()["psize"]
        # a value over about 2 KB has pages of its own, rounded up, and a page may end half empty
        wanted = used + 4 * batch_bytes + _BATCH_BYTES
        if wanted > self._map_bytes:
            self._grow(wanted)

    def _grow(self, wanted_bytes: int) -> None:
        while wanted_bytes > self._map_bytes:
            self._map_bytes *= 2
        self._environment.set_mapsize(self._map_bytes)


def _write_anew(path: Path) -> None:
    """Replace the file by a copy made in large writes and flushed to disk.

    The engine writes a few pages at a time, and the page cache keeps them so. Written by the megabyte, the file stands
    there in large folios, of which a reader's page fault maps more.
    """
    copy = path.with_name(f"{path.name}.copy")
    try:
        with path.open("rb", buffering=0) as source, copy.open("wb", buffering=0) as target:
            while block := source.read(_COPY_BYTES):
                left = memoryview(block)
                while left:
                    left = left[target.write(left) :]
            os.fsync(target.fileno())
        copy.replace(path)
    except BaseException:
        copy.unlink(missing_ok=True)
        raise


@contextmanager
def _as_os_errors(path: Path) -> Iterator[None]:
    """Raise the engine's errors as what they are to the caller: a file that cannot be written."""
    try:
        yield
    except lmdb.Error as error:
        raise OSError(errno.EIO, f"LMDB cannot write ({error})", os.fspath(path)) from error


def _transactions(batches: Iterable[list[tuple[bytes, bytes]]]) -> Iterator[tuple[list[tuple[bytes, bytes]], int]]:
    """Gather batches into lists of about `_BATCH_BYTES`, each with its bytes."""
    waiting: list[tuple[bytes, bytes]] = []
    size_bytes = 0
    for batch in batches:
        waiting += batch
        size_bytes += sum(map(len, chain.from_iterable(batch))) + _ROW_OVERHEAD_BYTES * len(batch)
        if size_bytes >= _BATCH_BYTES:
            yield waiting, size_bytes
            waiting, size_bytes = [], 0
    if waiting:
        yield waiting, size_bytes
