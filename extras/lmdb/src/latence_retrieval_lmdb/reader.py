"""`LmdbReader`: point look-ups and scans in one read transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from latence_retrieval.errors import SidecarError
from latence_retrieval.ports.key_value import Key, Table
from latence_retrieval.sidecar.files import corrupt, was_replaced
from latence_retrieval.sidecar.forking import GATE
from latence_retrieval.sidecar.keys import is_storable, packed, packed_all, require_kind, unpacked
from latence_retrieval_lmdb.engine import lmdb
from latence_retrieval_lmdb.handles import Handle, acquire, release

__all__ = ["LmdbReader"]

_SCAN_BATCH = 256


class LmdbReader:
    """Reads from the process's shared handle. A forked child acquires its own at its next read.

    The transaction lives as long as the reader: the file is immutable and has no lock table, so that it holds
    nothing up. Values are copied out of the map.
    """

    def __init__(self, path: Path, *, size_bytes: int) -> None:
        """Check and open the file. Use `LmdbBackend.open`."""
        self.lock = threading.RLock()
        self._path = path
        self._size_bytes = size_bytes
        self._is_closed = False
        self._handle: Handle | None = None
        self._transaction: lmdb.Transaction[bytes] | None = None
        with GATE.lock:
            handle = acquire(path, size_bytes=size_bytes)
            self._identity = handle.identity
            self._attach(handle)
            GATE.add(self)

    def get(self, table: Table, key: Key) -> bytes | None:
        """Return the value, or None where the key is absent."""
        if type(key) is not int if table.is_numbered else type(key) is not bytes:
            require_kind(table, (key,))
        if not is_storable(key):
            return None
        stored = packed(table, key)
        if self._transaction is None:
            self._reattach()
        with self.lock:
            try:
                value: bytes | None = self._live().get(stored)
            except lmdb.Error as error:
                raise self._unread(error) from error
        return value

    def get_many(self, table: Table, keys: Sequence[Key]) -> list[bytes | None]:
        """Return one value or None per key, in the order asked."""
        stored = packed_all(table, keys)
        if self._transaction is None:
            self._reattach()
        with self.lock:
            get = self._live().get
            try:
                return list(map(get, stored))
            except lmdb.Error as error:
                raise self._unread(error) from error

    def scan(self, table: Table) -> Iterator[tuple[Key, bytes]]:
        """Yield the whole table in ascending key order."""
        prefix = bytes((table,))
        after = prefix
        while True:
            if self._transaction is None:
                self._reattach()
            with self.lock:
                rows = self._rows_from(self._live(), after)
            if not rows:
                return
            for stored, value in rows:
                if stored[:1] != prefix:
                    return
                yield unpacked(table, stored), value
            after = rows[-1][0] + b"\0"  # the least key above it

    def close(self) -> None:
        """Release the handle; allowed twice."""
        with GATE.lock, self.lock:
            self._is_closed = True
            GATE.discard(self)
            self._detach()

    def drop_inherited(self) -> None:
        """Let go of the parent's handle; see `ForkSafe`."""
        self._detach()

    def __del__(self) -> None:
        """Close what the caller forgot to."""
        if not getattr(self, "_is_closed", True):
            self.close()

    def _rows_from(self, transaction: lmdb.Transaction[bytes], key: bytes) -> list[tuple[bytes, bytes]]:
        """Return the next rows at or above a key, of whatever table."""
        try:
            with transaction.cursor() as cursor:
                return list(islice(cursor.iternext(), _SCAN_BATCH)) if cursor.set_range(key) else []
        except lmdb.Error as error:
            raise self._unread(error) from error

    def _unread(self, error: lmdb.Error) -> SidecarError:
        return corrupt(self._path, f"LMDB cannot read it ({error})")

    def _live(self) -> lmdb.Transaction[bytes]:
        if self._transaction is None:
            raise ValueError(f"{self._path} is closed; open the snapshot again")
        return self._transaction

    def _attach(self, handle: Handle) -> None:
        self._handle = handle
        try:
            self._transaction = handle.environment.begin()
        except lmdb.Error as error:
            self._detach()
            raise self._unread(error) from error

    def _detach(self) -> None:
        transaction, self._transaction = self._transaction, None
        handle, self._handle = self._handle, None
        if transaction is not None:
            transaction.abort()
        if handle is not None:
            release(handle)

    def _reattach(self) -> None:
        """Acquire a handle anew after a fork."""
        with GATE.lock, self.lock:
            if self._is_closed or self._transaction is not None:
                return
            handle = acquire(self._path, size_bytes=self._size_bytes)
            if handle.identity != self._identity:
                release(handle)
                raise was_replaced(self._path)
            self._attach(handle)
