"""How a table's keys are written: one order for every store, so that adapters differ in nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import lt
from typing import Any, cast

from latence_retrieval.ports.key_value import Key, Table

__all__ = [
    "MAX_KEY_BYTES",
    "MAX_NUMBER",
    "ROWS_AT_ONCE",
    "AscendingRows",
    "is_storable",
    "packed",
    "packed_all",
    "packed_rows",
    "require_kind",
    "unpacked",
]

MAX_NUMBER = 2**32 - 1
"""Largest key of a numbered table: the port's own bound."""

MAX_KEY_BYTES = 480
"""Longest key of a named table: LMDB's 511 bytes less the table's byte, rounded down."""

ROWS_AT_ONCE = 256
"""Rows that are checked, packed and digested together: many enough that a row costs little, few enough to hold."""


def require_kind(table: Table, keys: Sequence[Key]) -> None:
    """Refuse keys of the wrong kind.

    Raises:
        TypeError: bytes for a numbered table, or a number for a named one.
    """
    wanted = int if table.is_numbered else bytes
    if set(map(type, keys)) <= {wanted}:
        return
    for key in keys:
        if type(key) is not wanted:
            kind = "numbers" if table.is_numbered else "bytes"
            raise TypeError(f"table {table.name} is keyed by {kind}, not by {type(key).__name__}")


def is_storable(key: Key) -> bool:
    """Whether a key of the right kind can be in a table at all; one that cannot is simply absent."""
    if isinstance(key, int):
        return 0 <= key <= MAX_NUMBER
    return 0 < len(key) <= MAX_KEY_BYTES


def packed(table: Table, key: Key) -> bytes:
    """Return the table's byte, then the number in four big-endian bytes, or the bytes as they are.

    Args:
        table: the table that the key belongs to.
        key: storable, and of the table's kind.
    """
    if isinstance(key, int):
        return (table << 32 | key).to_bytes(5, "big")
    return bytes((table,)) + key


def packed_rows(table: Table, rows: Sequence[tuple[Key, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return rows with their keys as `packed` gives them."""
    if table.is_numbered:
        base = int(table) << 32
        return [((base | key).to_bytes(5, "big"), value) for key, value in cast("Sequence[tuple[int, bytes]]", rows)]
    prefix = bytes((table,))
    return [(prefix + key, value) for key, value in cast("Sequence[tuple[bytes, bytes]]", rows)]


def packed_all(table: Table, keys: Sequence[Key]) -> list[bytes]:
    """Return what `packed` gives for each key, or the table's byte alone for one that cannot be there.

    The table's byte alone is nobody's key, so looking it up finds nothing.

    Raises:
        TypeError: a key of the wrong kind.
    """
    require_kind(table, keys)
    nobody = bytes((table,))
    if table.is_numbered:
        base = int(table) << 32
        numbers = cast("Sequence[int]", keys)
        return [(base | key).to_bytes(5, "big") if 0 <= key <= MAX_NUMBER else nobody for key in numbers]
    names = cast("Sequence[bytes]", keys)
    return [nobody + key if len(key) <= MAX_KEY_BYTES else nobody for key in names]


def unpacked(table: Table, stored: bytes) -> Key:
    """Return the key that `packed` wrote."""
    return int.from_bytes(stored[1:], "big") if table.is_numbered else stored[1:]


class AscendingRows:
    """What a writer lets through: keys of the right kind, strictly ascending in each table over all calls."""

    def __init__(self) -> None:
        """Start with empty tables."""
        self._last: dict[Table, Key] = {}

    def __call__(self, table: Table, rows: Iterable[tuple[Key, bytes]]) -> Iterator[list[tuple[Key, bytes]]]:
        """Pass rows through in lists of up to `ROWS_AT_ONCE`, refusing a list with a row that no store accepts.

        Raises:
            TypeError: a key of the wrong kind.
            ValueError: a key out of range, repeated, or smaller than the one before it.
        """
        stream = iter(rows)
        while batch := list(islice(stream, ROWS_AT_ONCE)):
            keys = [key for key, _ in batch]
            if not self._are_fine(table, keys):
                self._refuse(table, keys)
            self._last[table] = keys[-1]
            yield batch

    def _are_fine(self, table: Table, keys: list[Any]) -> bool:
        """Look at all keys at once: of keys that ascend, the first and the last are the least and the greatest."""
        if set(map(type, keys)) != {int if table.is_numbered else bytes}:
            return False
        last = self._last.get(table)
        if (last is not None and last >= keys[0]) or not all(map(lt, keys, islice(keys, 1, None))):
            return False
        if table.is_numbered:
            return bool(keys[0] >= 0 and keys[-1] <= MAX_NUMBER)
        return bool(keys[0] and max(map(len, keys)) <= MAX_KEY_BYTES)

    def _refuse(self, table: Table, keys: list[Any]) -> None:
        """Say which key it is, and what is wrong with it."""
        last = self._last.get(table)
        for key in keys:
            require_kind(table, (key,))
            if not is_storable(key):
                bounds = f"0 to {MAX_NUMBER}" if table.is_numbered else f"1 to {MAX_KEY_BYTES} bytes"
                raise ValueError(f"table {table.name}: key {key!r} is out of range; keys are {bounds}")
            if last is not None and key <= last:
                if key == last:
                    raise ValueError(f"table {table.name}: key {key!r} is repeated; give each key once")
                raise ValueError(f"table {table.name}: key {key!r} follows {last!r}; give keys in ascending order")
            last = key
