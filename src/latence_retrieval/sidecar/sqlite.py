"""Key-value tables in one SQLite file: the store of the base install, from the standard library.

Two SQL tables hold all of `Table`: `numbered` by integer, `named` by bytes without a rowid, both keyed as
`keys.packed` writes them. Two parse faster than thirteen when a call opens the file (adr/0040).
"""

from __future__ import annotations

import errno
import os
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import cast
from urllib.parse import quote

from latence_retrieval.errors import SidecarError
from latence_retrieval.ports.key_value import Key, Table
from latence_retrieval.sidecar.files import checked_stat, corrupt, read_at, was_replaced
from latence_retrieval.sidecar.forking import GATE
from latence_retrieval.sidecar.keys import (
    MAX_NUMBER,
    AscendingRows,
    is_storable,
    packed,
    packed_all,
    packed_rows,
    require_kind,
    unpacked,
)

__all__ = ["SqliteBackend", "SqliteReader", "SqliteWriter"]

_MAGIC = b"SQLite format 3\0"
_APPLICATION_ID = 0x4C526B76
"""ASCII "LRkv" in the header's application id; written last, so that an unfinished file is refused."""

_PAGE_BYTES = 8192
"""Of 4, 8 and 16 KiB: a named row keeps values up to 2 KB inside its page, and opens fast (adr/0040)."""

_IN_BATCH = 64
"""Keys of one `IN (…)`: two statement shapes stay prepared, far below SQLite's limit of 999 parameters."""

_SYSTEM_RESULTS = (7, 10, 14)
"""SQLITE_NOMEM, SQLITE_IOERR and SQLITE_CANTOPEN: the low byte of a result code (sqlite.org/rescode.html)."""

_SCAN_BATCH = 256
_WRITE_CACHE_KIB = 32 * 1024


class SqliteBackend:
    """The format "sqlite". See `KeyValueBackend`."""

    name = "sqlite"
    filename = "kv.sqlite"

    def open(self, path: Path, *, size_bytes: int) -> SqliteReader:
        """Open for reading; see `KeyValueBackend.open`."""
        return SqliteReader(path, size_bytes=size_bytes)

    def create(self, path: Path) -> SqliteWriter:
        """Create the file, which must not exist.

        Raises:
            FileExistsError: something is there already.
        """
        return SqliteWriter(path)


class SqliteReader:
    """One read-only connection behind a lock. A forked child connects anew at its next read."""

    def __init__(self, path: Path, *, size_bytes: int) -> None:
        """Check the file, then connect. Use `SqliteBackend.open`."""
        self.lock = threading.RLock()
        self._path = path
        self._size_bytes = size_bytes
        self._is_closed = False
        self._connection: sqlite3.Connection | None = None
        with GATE.lock:
            self._identity = _checked_identity(path, size_bytes)
            self._connection = _connect(path)
            GATE.add(self)

    def get(self, table: Table, key: Key) -> bytes | None:
        """Return the value, or None where the key is absent."""
        if type(key) is not int if table.is_numbered else type(key) is not bytes:
            require_kind(table, (key,))
        if not is_storable(key):
            return None
        with self._locked():
            try:
                row = self._live().execute(_GET[table.is_numbered], (_stored(table, key),)).fetchone()
            except sqlite3.Error as error:
                raise self._unread(error) from error
        return None if row is None else row[0]

    def get_many(self, table: Table, keys: Sequence[Key]) -> list[bytes | None]:
        """Return one value or None per key, in the order asked."""
        stored = _stored_all(table, keys)
        found: dict[object, bytes] = {}
        with self._locked():
            execute = self._live().execute
            try:
                for start in range(0, len(stored), _IN_BATCH):
                    batch = list(stored[start : start + _IN_BATCH])
                    if len(batch) < _FEW:
                        for key in batch:
                            found.update(execute(_GET_PAIR[table.is_numbered], (key,)))
                    else:
                        batch += [None] * (_IN_BATCH - len(batch))  # NULL equals nothing
                        found.update(execute(_GET_IN[table.is_numbered], batch))
            except sqlite3.Error as error:
                raise self._unread(error) from error
        return [found.get(key) for key in stored]

    def scan(self, table: Table) -> Iterator[tuple[Key, bytes]]:
        """Yield the whole table in ascending key order."""
        low, high = _bounds(table)
        after: object = None
        while True:
            with self._locked():
                sql = _SCAN if after is None else _SCAN_ON
                bounds = (low if after is None else after, high, _SCAN_BATCH)
                try:
                    rows = self._live().execute(sql[table.is_numbered], bounds).fetchall()
                except sqlite3.Error as error:
                    raise self._unread(error) from error
            if not rows:
                return
            after = rows[-1][0]
            for key, value in rows:
                yield key & 0xFFFFFFFF if table.is_numbered else unpacked(table, key), value

    def close(self) -> None:
        """Release the connection; allowed twice."""
        with GATE.lock, self.lock:
            self._is_closed = True
            connection, self._connection = self._connection, None
            GATE.discard(self)
            # Inside the gate: a process that forks while SQLite closes leaves its global mutex locked in the child.
            if connection is not None:
                connection.close()

    def drop_inherited(self) -> None:
        """Let go of the parent's connection; see `ForkSafe`."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()  # idle and without locks: this only closes our descriptor

    def __del__(self) -> None:
        """Close what the caller forgot to."""
        if not getattr(self, "_is_closed", True):
            self.close()

    def _locked(self) -> threading.RLock:
        if self._connection is None:
            self._reconnect()
        return self.lock

    def _live(self) -> sqlite3.Connection:
        if self._connection is None:
            raise ValueError(f"{self._path} is closed; open the snapshot again")
        return self._connection

    def _unread(self, error: sqlite3.Error) -> SidecarError:
        return _unreadable(self._path, error)

    def _reconnect(self) -> None:
        """Connect anew after a fork."""
        with GATE.lock, self.lock:
            if self._is_closed or self._connection is not None:
                return
            if _checked_identity(self._path, self._size_bytes) != self._identity:
                raise was_replaced(self._path)
            self._connection = _connect(self._path)


class SqliteWriter:
    """Writes the file in one transaction, without a journal: a file that was not closed is not valid."""

    def __init__(self, path: Path) -> None:
        """Create the file. Use `SqliteBackend.create`."""
        self._path = path
        self._is_closed = False
        self._checked = AscendingRows()
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
        self._connection = sqlite3.connect(path, isolation_level=None)
        run = self._connection.execute
        for pragma in (
            f"page_size = {_PAGE_BYTES}",
            "journal_mode = OFF",
            "synchronous = OFF",
            "locking_mode = EXCLUSIVE",
            f"cache_size = -{_WRITE_CACHE_KIB}",
            "auto_vacuum = NONE",
        ):
            run(f"PRAGMA {pragma}")
        run("BEGIN")
        run("CREATE TABLE numbered (k INTEGER PRIMARY KEY, v BLOB NOT NULL)")
        run("CREATE TABLE named (k BLOB PRIMARY KEY, v BLOB NOT NULL) WITHOUT ROWID")

    def put_many(self, table: Table, rows: Iterable[tuple[Key, bytes]]) -> int:
        """Store rows, streamed in ascending key order; return how many.

        Raises:
            TypeError: a key of the wrong kind.
            ValueError: a key repeated, out of order or out of range; or the writer is closed.
            OSError: the file cannot be written.
        """
        if self._is_closed:
            raise ValueError(f"{self._path} is closed")
        count = 0
        for batch in self._checked(table, rows):
            try:
                self._connection.executemany(_PUT[table.is_numbered], _stored_rows(table, batch))
            except sqlite3.Error as error:
                raise self._unwritten(error) from error
            count += len(batch)
        return count

    def close(self) -> None:
        """Commit, mark the file as complete, flush it to disk and release it; allowed twice."""
        if self._is_closed:
            return
        self._is_closed = True
        try:
            self._connection.execute("COMMIT")
            self._connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
        except sqlite3.Error as error:
            raise self._unwritten(error) from error
        finally:
            self._connection.close()
        with self._path.open("rb") as file:
            os.fsync(file.fileno())

    def _unwritten(self, error: sqlite3.Error) -> OSError:
        return OSError(errno.EIO, f"SQLite cannot write ({error})", os.fspath(self._path))


_FEW = 16  # below this many keys, single look-ups beat one IN (…) padded to its batch (adr/0040)
# by `Table.is_numbered`
_GET = {True: "SELECT v FROM numbered WHERE k = ?", False: "SELECT v FROM named WHERE k = ?"}
_GET_PAIR = {kind: sql.replace("v", "k, v", 1) for kind, sql in _GET.items()}
_GET_IN = {kind: sql.replace("= ?", f"IN ({', '.join('?' * _IN_BATCH)})") for kind, sql in _GET_PAIR.items()}
_SCAN = {kind: sql.replace("= ?", ">= ? AND k < ? ORDER BY k LIMIT ?") for kind, sql in _GET_PAIR.items()}
_SCAN_ON = {kind: sql.replace(">=", ">") for kind, sql in _SCAN.items()}
_PUT = {True: "INSERT INTO numbered VALUES (?, ?)", False: "INSERT INTO named VALUES (?, ?)"}


def _stored(table: Table, key: Key) -> int | bytes:
    return int(table) << 32 | key if isinstance(key, int) else packed(table, key)


def _stored_all(table: Table, keys: Sequence[Key]) -> Sequence[int | bytes | None]:
    """Return what `_stored` gives for each key, None for one that cannot be there.

    Raises:
        TypeError: a key of the wrong kind.
    """
    if not table.is_numbered:
        return packed_all(table, keys)  # what cannot be there becomes nobody's key
    require_kind(table, keys)
    base = int(table) << 32
    return [base | key if 0 <= key <= MAX_NUMBER else None for key in cast("Sequence[int]", keys)]


def _stored_rows(table: Table, rows: Sequence[tuple[Key, bytes]]) -> Sequence[tuple[Key, bytes]]:
    if not table.is_numbered:
        return packed_rows(table, rows)
    base = int(table) << 32
    return [(base | key, value) for key, value in cast("Sequence[tuple[int, bytes]]", rows)]


def _bounds(table: Table) -> tuple[int | bytes, int | bytes]:
    """Return the least stored key of a table and of the next one."""
    if table.is_numbered:
        return int(table) << 32, int(table) + 1 << 32
    return bytes((table,)), bytes((table + 1,))


def _connect(path: Path) -> sqlite3.Connection:
    # immutable: no locks, no journal look-up, so a read-only file system is enough
    uri = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
    try:
        return sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
    except sqlite3.Error as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: sqlite3.Error) -> SidecarError:
    """Return the error for a file that SQLite fails on: damaged, unless the system would not give its pages."""
    problem = f"SQLite cannot read it ({error})"
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _SYSTEM_RESULTS:
        return SidecarError(path, problem, fix="check its disk, and how many files this process has open")
    return corrupt(path, problem)


def _checked_identity(path: Path, size_bytes: int) -> tuple[int, int]:
    """Check size and header before SQLite reads a page; return the file's device and inode."""
    status = checked_stat(path, size_bytes=size_bytes)
    header = read_at(path, (0,), size_bytes=100)[0]  # https://www.sqlite.org/fileformat.html, 1.3
    if len(header) < 100 or not header.startswith(_MAGIC):
        raise corrupt(path, "is not an SQLite file")
    if int.from_bytes(header[68:72], "big") != _APPLICATION_ID:
        raise corrupt(path, "is not a finished sidecar file")
    page_bytes = int.from_bytes(header[16:18], "big")
    page_count = int.from_bytes(header[28:32], "big")
    if page_bytes * page_count != size_bytes:
        raise corrupt(path, f"has {size_bytes} bytes, its header says {page_bytes * page_count}")
    return status.st_dev, status.st_ino
