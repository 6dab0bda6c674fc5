"""The key-value contract, against the reference in memory and the SQLite adapter of the base install."""

from __future__ import annotations

from pathlib import Path

from latence_retrieval.memory.key_value import MemoryKeyValue
from latence_retrieval.sidecar.sqlite import SqliteBackend
from latence_retrieval.testing.key_value import KeyValueConformance
from latence_retrieval.testing.key_value_files import KeyValueFileConformance


class TestMemoryKeyValue(KeyValueConformance):
    """The reference: one object is both ends."""

    def writer(self, directory: Path) -> MemoryKeyValue:
        self._store = _Store()
        return self._store

    def reader(self, directory: Path) -> MemoryKeyValue:
        self._store.is_written = True
        return self._store


class _Store(MemoryKeyValue):
    is_written = False

    def close(self) -> None:
        if self.is_written:  # the writer's close comes first, and ends the writing only
            super().close()


class TestSqlite(KeyValueFileConformance):
    def backend(self) -> SqliteBackend:
        return SqliteBackend()
