"""The build's scratch file: a private SQLite database beside the target, so that memory stays bounded.

It is written without journal or fsync and removed with the build's temporary directory.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Scratch"]

_SCHEMA = """
CREATE TABLE entity (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, json TEXT NOT NULL);
CREATE TABLE chunk (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, json TEXT NOT NULL, forms TEXT, marks BLOB);
CREATE TABLE about (chunk INTEGER, place INTEGER, entity INTEGER, PRIMARY KEY (chunk, place)) WITHOUT ROWID;
CREATE TABLE stated (chunk INTEGER, entity INTEGER);
CREATE TABLE alias (form TEXT, entity INTEGER, prior REAL, flags INTEGER, PRIMARY KEY (form, entity)) WITHOUT ROWID;
CREATE TABLE head (token TEXT PRIMARY KEY, longest INTEGER) WITHOUT ROWID;
CREATE TABLE occurrence (form TEXT PRIMARY KEY, all_of_it INTEGER, as_name INTEGER) WITHOUT ROWID;
CREATE TABLE mention (chunk INTEGER, sentence INTEGER, form TEXT, is_weak INTEGER);
CREATE TABLE fact (n INTEGER PRIMARY KEY, chunk INTEGER, relation INTEGER, confidence INTEGER, members BLOB, json TEXT);
CREATE TABLE link (chunk INTEGER PRIMARY KEY, subjects INTEGER, entities BLOB, masks BLOB);
CREATE TABLE relation (n INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE, description TEXT);
"""
_KEY_BYTES = 190  # a remembered id, its number and a dictionary slot in CPython
_ROWS_AT_ONCE = 500
_INSERT = {
    "entity": "INSERT INTO entity VALUES (?, ?, ?)",
    "chunk": "INSERT INTO chunk VALUES (?, ?, ?, ?, ?)",
    "relation": "INSERT INTO relation VALUES (?, ?, ?)",
    "alias": "INSERT INTO alias VALUES (?, ?, ?, ?)",
    "about": "INSERT INTO about VALUES (?, ?, ?)",
    "fact": "INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?)",
    "stated": "INSERT INTO stated VALUES (?, ?)",
    "link": "INSERT INTO link VALUES (?, ?, ?, ?)",
    "head": "INSERT INTO head VALUES (?, ?) ON CONFLICT (token) DO UPDATE SET longest = max(longest, excluded.longest)",
}


class Scratch:
    """Tables that grow with the corpus, with a bounded cache over the look-ups that repeat."""

    def __init__(self, path: Path, *, cache_bytes: int) -> None:
        """Create the file; `cache_bytes` is for its pages, and as much again for each kind of look-up."""
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.execute(f"PRAGMA cache_size = {-max(1024, cache_bytes // 1024)}")
        self._db.executescript(_SCHEMA)
        self._db.execute("BEGIN")
        self._most_keys = cache_bytes // _KEY_BYTES
        self._caches: dict[str, dict[str, Any]] = {}
        self._waiting: defaultdict[str, list[Sequence[Any]]] = defaultdict(list)

    def close(self) -> None:
        """Close; the file is the caller's to remove."""
        self._db.close()

    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row."""
        self._db.executemany(statement, rows)

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Run one statement."""
        self.flush()
        self._db.execute(statement, values)

    def insert(self, table: str, values: Sequence[Any]) -> None:
        """Insert a row with an id at once.

        Raises:
            sqlite3.IntegrityError: the id is there already.
        """
        self._db.execute(_INSERT[table], values)

    def later(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows that nothing refuses, with some hundred others; at the latest before the next query."""
        waiting = self._waiting[table]
        waiting += rows
        if len(waiting) >= _ROWS_AT_ONCE:
            self._db.executemany(_INSERT[table], waiting)
            waiting.clear()

    def flush(self) -> None:
        """Insert what waits."""
        for table, waiting in self._waiting.items():
            if waiting:
                self._db.executemany(_INSERT[table], waiting)
                waiting.clear()

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Yield the rows of a query, streamed."""
        self.flush()
        cursor = self._db.cursor()
        cursor.arraysize = 1000
        return iter(cursor.execute(query, values))

    def one(self, query: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, or None."""
        self.flush()
        row = self._db.execute(query, values).fetchone()
        return None if row is None else row[0]

    def cached(self, query: str, key: str) -> Any:
        """Return `one(query, (key,))`, remembered; the cache starts anew when it is full."""
        cache = self._caches.get(query)
        if cache is not None and key in cache:
            return cache[key]
        cache = self.cache(query)
        value = cache[key] = self.one(query, (key,))
        return value

    def cache(self, purpose: str) -> dict[str, Any]:
        """Return the bounded cache of that name, emptied first where it is full."""
        cache = self._caches.setdefault(purpose, {})
        if len(cache) >= self._most_keys:
            cache.clear()
        return cache

    def forget(self) -> None:
        """Drop the remembered look-ups, after the tables behind them have changed."""
        self._caches.clear()

    def remember(self, table: str, identifier: str, number: int) -> None:
        """Remember the number of a row that was added, for `number` and `known`."""
        self.cache(_NUMBER[table])[identifier] = number

    def forget_one(self, table: str, identifier: str) -> None:
        """Drop one remembered number, after its row was added."""
        self._caches.get(_NUMBER[table], {}).pop(identifier, None)

    def known(self, table: str) -> Mapping[str, int | None]:
        """Return what `number` remembers of a table, as it grows and is emptied."""
        return self.cache(_NUMBER[table])

    def number(self, table: str, identifier: str) -> int | None:
        """Return the number of an entity or chunk, None where there is none."""
        query = _NUMBER[table]
        cache = self._caches.get(query)
        if cache is not None and identifier in cache:
            known: int | None = cache[identifier]
            return known
        row = self._db.execute(query, (identifier,)).fetchone()  # such tables have no row waiting
        known = self.cache(query)[identifier] = None if row is None else row[0]
        return known

    def count(self, table: str) -> int:
        """Return how many rows a table has."""
        return int(self.one(_COUNT[table]))


_NUMBER = {
    "entity": "SELECT n FROM entity WHERE id = ?",
    "chunk": "SELECT n FROM chunk WHERE id = ?",
    "relation": "SELECT n FROM relation WHERE label = ?",
}
_COUNT = {
    "entity": "SELECT count(*) FROM entity",
    "chunk": "SELECT count(*) FROM chunk",
    "fact": "SELECT count(*) FROM fact",
    "relation": "SELECT count(*) FROM relation",
    "mention": "SELECT count(*) FROM mention",
    "form": "SELECT count(DISTINCT form) FROM alias",
}
