"""Key-value tables in dictionaries: the reference for `KeyValueReader` and `KeyValueWriter`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from latence_retrieval.ports.key_value import Key, Table
from latence_retrieval.sidecar.keys import AscendingRows, require_kind

__all__ = ["MemoryKeyValue"]


class MemoryKeyValue:
    """Both ends of a store at once: what was put can be read straight away, from any thread."""

    def __init__(self) -> None:
        """Start with empty tables."""
        self._tables: dict[Table, dict[Key, bytes]] = {}
        self._checked = AscendingRows()
        self._closed = False

    def put_many(self, table: Table, rows: Iterable[tuple[Key, bytes]]) -> int:
        """Store rows, streamed in ascending key order; return how many.

        Raises:
            TypeError: a key of the wrong kind.
            ValueError: a key repeated, out of order or out of range.
        """
        self._check_open()
        stored = self._tables.setdefault(table, {})
        before = len(stored)
        for batch in self._checked(table, rows):
            stored.update((key, bytes(value)) for key, value in batch)
        return len(stored) - before

    def get(self, table: Table, key: Key) -> bytes | None:
        """Return the value, or None where the key is absent."""
        self._check_open()
        require_kind(table, (key,))
        return self._tables.get(table, {}).get(key)

    def get_many(self, table: Table, keys: Sequence[Key]) -> list[bytes | None]:
        """Return one value or None per key, in the order asked."""
        self._check_open()
        require_kind(table, keys)
        find = self._tables.get(table, {}).get
        return [find(key) for key in keys]

    def scan(self, table: Table) -> Iterator[tuple[Key, bytes]]:
        """Yield the whole table in ascending key order."""
        for row in list(self._tables.get(table, {}).items()):  # stored in that order
            self._check_open()
            yield row
        self._check_open()

    def close(self) -> None:
        """Refuse further use; allowed twice."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("the store is closed; open the snapshot again")
