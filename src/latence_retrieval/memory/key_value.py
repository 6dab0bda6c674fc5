"""Key-value tables in dictionaries: the reference for `KeyValueReader` and `KeyValueWriter`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from latence_retrieval.ports.key_value import Key, Table

__all__ = ["MemoryKeyValue"]


class MemoryKeyValue:
    """Both ends of a store at once: what was put can be read straight away, from any thread."""

    def __init__(self) -> None:
        """Start with empty tables."""
        self._tables: dict[Table, dict[Key, bytes]] = {}
        self._closed = False

    def put_many(self, table: Table, rows: Iterable[tuple[Key, bytes]]) -> int:
        """Store rows in ascending key order.

        Raises:
            ValueError: a key repeats or does not ascend.
        """
        stored = self._tables.setdefault(table, {})
        last: Key | None = max(stored, default=None)
        count = 0
        for key, value in rows:
            _check_kind(table, key)
            if last is not None and not last < key:  # type: ignore[operator]  # keys of one table are of one kind
                raise ValueError(f"{table.name}: key {key!r} after {last!r}; give ascending keys, each once")
            stored[key] = bytes(value)
            last = key
            count += 1
        return count

    def get(self, table: Table, key: Key) -> bytes | None:
        """Return the value, or None where the key is absent."""
        self._check_open()
        _check_kind(table, key)
        return self._tables.get(table, {}).get(key)

    def get_many(self, table: Table, keys: Sequence[Key]) -> list[bytes | None]:
        """Return one value or None per key, in the order asked."""
        self._check_open()
        for key in keys:
            _check_kind(table, key)
        find = self._tables.get(table, {}).get
        return [find(key) for key in keys]

    def scan(self, table: Table) -> Iterator[tuple[Key, bytes]]:
        """Yield the whole table in ascending key order."""
        self._check_open()
        yield from sorted(self._tables.get(table, {}).items())

    def close(self) -> None:
        """Refuse further reads."""
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("the store is closed; open the snapshot again")


def _check_kind(table: Table, key: Key) -> None:
    if isinstance(key, int) is not table.is_numbered:
        kind = "a number" if table.is_numbered else "bytes"
        raise TypeError(f"{table.name}: key {key!r} must be {kind}")
