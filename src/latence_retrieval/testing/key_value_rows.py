"""Rows and steps that the key-value suites share."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from latence_retrieval.ports.key_value import Key, KeyValueReader, Table

__all__ = ["Tables", "in_threads", "raises", "read_all", "sample_tables"]

Tables = Mapping[Table, Sequence[tuple[Key, bytes]]]
"""Rows by table, in ascending order of keys."""

_SIZES = (0, 1, 50, 300, 2_000, 8_000, 70_000)
_BOUNDARY_KEYS: tuple[bytes, ...] = (b"\0", b"\0\0", b"a", b"a\0", b"ab", b"b" * 480, b"\xff", b"\xff" * 480)
_BOUNDARY_NUMBERS = (0, 1, 127, 128, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1)


def sample_tables(*, rows: int = 600, seed: int = 7) -> dict[Table, list[tuple[Key, bytes]]]:
    """Return rows for every table, with keys in common."""
    generator = random.Random(seed)
    tables: dict[Table, list[tuple[Key, bytes]]] = {}
    for table in Table:
        keys: list[Key]
        if table.is_numbered:
            keys = sorted({*_BOUNDARY_NUMBERS, *(generator.randrange(5 * rows) for _ in range(rows))})
        else:
            words = {generator.randbytes(generator.randint(1, 40)) for _ in range(rows)}
            keys = sorted({*_BOUNDARY_KEYS, *words})
        tables[table] = [
            (key, b"%d:" % table + generator.randbytes(_SIZES[at % 5] if at % 97 else _SIZES[at % 7]))
            for at, key in enumerate(keys)
        ]
    return tables


@contextmanager
def raises(kind: type[BaseException], *, naming: str = "") -> Iterator[None]:
    """Demand an error of that kind, with `naming` in its message."""
    try:
        yield
    except kind as error:
        message = str(error)
    else:
        raise AssertionError(f"{kind.__name__} was not raised")
    assert naming in message, f"{naming!r} is not in the message: {message}"


def read_all(reader: KeyValueReader, tables: Tables) -> None:
    """Demand that scans, batches and single look-ups all give what is in `tables`."""
    for table, rows in tables.items():
        assert list(reader.scan(table)) == list(rows)
        assert reader.get_many(table, [key for key, _ in rows]) == [value for _, value in rows]
        for key, value in rows[:30]:
            assert reader.get(table, key) == value


def in_threads(work: Callable[[], None], *, count: int) -> None:
    """Run `work` in threads, and raise what one of them raised."""
    failures: list[BaseException] = []

    def guarded() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
