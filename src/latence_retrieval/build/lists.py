"""Lists by key, grown in input order and read back by key, in bounded memory.

Cheaper than sorting one row a number (`spill.SpillSorter`) where the numbers of a key come in the order in which they
are wanted: a million postings of twenty thousand words are twenty thousand rows to sort.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Self

from latence_retrieval.build.spill import SpillSorter
from latence_retrieval.sidecar.codec import named_key

__all__ = ["SpilledLists", "SpilledRows"]

_KEY_BYTES = 190  # a text, a number and a dictionary slot in CPython
_LIST_BYTES = 130  # an array with two numbers
_NUMBER_BYTES = 9  # with the array's room to grow
_ROW_BYTES = 50  # of a bytes object and a list slot, past the bytes themselves
_NUMBER_WIDTH = 4
_RUN_BYTES = 4  # of a run's number, which keeps a key's parts in order


class _Spilled:
    """What both kinds share: half of the memory for what is held, half for the sorter of the runs."""

    def __init__(self, directory: Path, *, max_memory_bytes: int) -> None:
        self._max_memory_bytes = max_memory_bytes // 2
        self._held_bytes = 0
        self._sorter = SpillSorter(directory, max_memory_bytes=self._max_memory_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Drop what is held and remove the runs."""
        self._sorter.close()


class SpilledLists(_Spilled):
    """Collects numbers under names; yields (key, numbers) by ascending key, the numbers in the order of adding.

    Use as a context manager. Memory stays near `max_memory_bytes`.
    """

    def __init__(self, directory: Path, *, max_memory_bytes: int) -> None:
        super().__init__(directory, max_memory_bytes=max_memory_bytes)
        self._lists: dict[str, int | array[int]] = {}  # a list of one, as half of all are, is the number itself
        self._runs = 0

    def add(self, items: Iterable[tuple[str, int]]) -> None:
        """Append a number (below 2**64) to the list of each name."""
        lists = self._lists
        find = lists.get
        held = 0
        for name, number in items:
            known = find(name)
            if known is None:
                lists[name] = number
                held += _KEY_BYTES + len(name)
            elif isinstance(known, array):
                known.append(number)
                held += _NUMBER_BYTES
            else:
                lists[name] = array("Q", (known, number))
                held += _LIST_BYTES
        self._held_bytes += held
        if self._held_bytes > self._max_memory_bytes:
            self._spill()

    def __iter__(self) -> Iterator[tuple[bytes, array[int]]]:
        """Yield every list, keyed by `named_key`; may be asked once."""
        if not self._runs:
            keyed = {named_key(name): numbers for name, numbers in self._lists.items()}
            return ((key, _as_list(keyed[key])) for key in sorted(keyed))
        self._spill()
        return self._merged()

    def close(self) -> None:
        """Drop the lists and remove the runs."""
        self._lists.clear()
        super().close()

    def _merged(self) -> Iterator[tuple[bytes, array[int]]]:
        for key, rows in groupby(self._sorter, key=lambda row: row[0]):
            numbers: array[int] = array("Q")
            for _, value in rows:
                numbers.frombytes(value[_RUN_BYTES:])
            yield key, numbers

    def _spill(self) -> None:
        run = self._runs.to_bytes(_RUN_BYTES, "big")
        self._sorter.add_all(
            (named_key(name), run + _as_list(numbers).tobytes()) for name, numbers in self._lists.items()
        )
        self._runs += 1
        self._lists.clear()
        self._held_bytes = 0


def _as_list(numbers: int | array[int]) -> array[int]:
    return numbers if isinstance(numbers, array) else array("Q", (numbers,))


class SpilledRows(_Spilled):
    """Collects rows of bytes under numbers; yields (number, rows) by ascending number, the rows ascending.

    Use as a context manager. Memory stays near `max_memory_bytes`.
    """

    def __init__(self, directory: Path, *, max_memory_bytes: int) -> None:
        super().__init__(directory, max_memory_bytes=max_memory_bytes)
        self._rows: defaultdict[int, list[bytes]] = defaultdict(list)
        self._is_spilled = False

    def close(self) -> None:
        """Drop the rows and remove the runs."""
        self._rows.clear()
        super().close()

    def add(self, items: Collection[tuple[int, bytes]]) -> None:
        """Add a row to each of several numbers (below 2**32)."""
        rows = self._rows
        before = len(rows)
        held = len(items) * _ROW_BYTES
        for number, row in items:
            rows[number].append(row)
            held += len(row)
        self._held_bytes += held + (len(rows) - before) * _KEY_BYTES
        if self._held_bytes > self._max_memory_bytes:
            self._spill()

    def __iter__(self) -> Iterator[tuple[int, Iterator[bytes]]]:
        """Yield every number with its rows, to be taken before the next; may be asked once."""
        if not self._is_spilled:
            return ((number, iter(sorted(self._rows[number]))) for number in sorted(self._rows))
        self._spill()
        groups = groupby(self._sorter, key=lambda row: row[0])
        return ((int.from_bytes(key, "big"), (row for _, row in rows)) for key, rows in groups)

    def _spill(self) -> None:
        self._sorter.add_all(
            (number.to_bytes(_NUMBER_WIDTH, "big"), row) for number, rows in self._rows.items() for row in rows
        )
        self._is_spilled = True
        self._rows.clear()
        self._held_bytes = 0
