"""The build's scratch file: a private SQLite database beside the target, so that memory stays bounded.

It is written without journal or fsync and removed with the build's temporary directory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

__all__ = ["Scratch"]

_SCHEMA = """
CREATE TABLE entity (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, json TEXT NOT NULL);
CREATE TABLE chunk (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, json TEXT NOT NULL, forms TEXT, marks BLOB);
CREATE TABLE about (chunk INTEGER, place INTEGER, entity INTEGER, PRIMARY KEY (chunk, place)) WITHOUT ROWID;
CREATE TABLE alias (form TEXT, entity INTEGER, prior REAL, flags INTEGER, PRIMARY KEY (form, entity)) WITHOUT ROWID;
CREATE TABLE head (token TEXT PRIMARY KEY, longest INTEGER) WITHOUT ROWID;
CREATE TABLE occurrence (form TEXT PRIMARY KEY, all_of_it INTEGER, as_name INTEGER) WITHOUT ROWID;
CREATE TABLE mention (chunk INTEGER, sentence INTEGER, form TEXT, is_weak INTEGER);
CREATE TABLE fact (n INTEGER PRIMARY KEY, chunk INTEGER, relation INTEGER, confidence INTEGER, members BLOB, json TEXT);
CREATE TABLE relation (n INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE, description TEXT);
"""
_CACHED_KEYS = 200_000


class Scratch:
    """Tables that grow with the corpus, with a bounded cache over the look-ups that repeat."""

    def __init__(self, path: Path, *, cache_bytes: int) -> None:
        self._db = sqlite3.connect(path, isolation_level=None)
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.execute(f"PRAGMA cache_size = {-max(1024, cache_bytes // 1024)}")
        self._db.executescript(_SCHEMA)
        self._db.execute("BEGIN")
        self._caches: dict[str, dict[str, Any]] = {}

    def close(self) -> None:
        """Close; the file is the caller's to remove."""
        self._db.close()

    def many(self, statement: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run one statement for each row."""
        self._db.executemany(statement, rows)

    def run(self, statement: str, values: Sequence[Any] = ()) -> None:
        """Run one statement."""
        self._db.execute(statement, values)

    def rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[Any]:
        """Yield the rows of a query, streamed."""
        cursor = self._db.cursor()
        cursor.arraysize = 1000
        return iter(cursor.execute(query, values))

    def one(self, query: str, values: Sequence[Any] = ()) -> Any:
        """Return the first column of the first row, or None."""
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
        if len(cache) >= _CACHED_KEYS:
            cache.clear()
        return cache

    def forget(self) -> None:
        """Drop the remembered look-ups, after the tables behind them have changed."""
        self._caches.clear()

    def forget_one(self, table: str, identifier: str) -> None:
        """Drop one remembered number, after its row was added."""
        self._caches.get(_NUMBER[table], {}).pop(identifier, None)

    def number(self, table: str, identifier: str) -> int | None:
        """Return the number of an entity or chunk, None where there is none."""
        value: int | None = self.cached(_NUMBER[table], identifier)
        return value

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
