"""What a store must do to carry a sidecar, as tests to inherit.

    class TestMyStore(KeyValueFileConformance):
        def backend(self):
            return MyBackend()

Needs no test framework at import; pytest collects the methods and provides `tmp_path`.
"""

from __future__ import annotations

import os
import random
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from latence_retrieval.errors import SidecarCorruptError, SidecarNotFoundError
from latence_retrieval.ports.key_value import Key, KeyValueBackend, KeyValueReader, KeyValueWriter, Table
from latence_retrieval.testing.processes import run_in_fork

__all__ = ["KeyValueConformance", "KeyValueFileConformance"]

Tables = Mapping[Table, Sequence[tuple[Key, bytes]]]

_SIZES = (0, 1, 50, 300, 2_000, 8_000, 70_000)
_BOUNDARY_KEYS: tuple[bytes, ...] = (b"\0", b"\0\0", b"a", b"a\0", b"ab", b"b" * 480, b"\xff", b"\xff" * 480)
_BOUNDARY_NUMBERS = (0, 1, 127, 128, 255, 256, 65_535, 65_536, 2**31 - 1, 2**31, 2**32 - 1)


def _sample(*, rows: int = 600, seed: int = 7) -> dict[Table, list[tuple[Key, bytes]]]:
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
def _raises(kind: type[BaseException], *, naming: str = "") -> Iterator[None]:
    try:
        yield
    except kind as error:
        message = str(error)
    else:
        raise AssertionError(f"{kind.__name__} was not raised")
    assert naming in message, f"{naming!r} is not in the message: {message}"


class KeyValueConformance:
    """Contract of `KeyValueReader` and `KeyValueWriter`; subclass it and define `backend`."""

    def backend(self) -> KeyValueBackend:
        """Return the adapter under test."""
        raise NotImplementedError("define backend()")

    def writer(self, directory: Path) -> KeyValueWriter:
        """Return a writer of a new store."""
        backend = self.backend()
        return backend.create(directory / backend.filename)

    def reader(self, directory: Path) -> KeyValueReader:
        """Open the store that was written in `directory`."""
        backend = self.backend()
        path = directory / backend.filename
        return backend.open(path, size_bytes=path.stat().st_size)

    def stored(self, directory: Path, tables: Tables) -> KeyValueReader:
        """Write tables, and return a reader of them."""
        writer = self.writer(directory)
        for table, rows in tables.items():
            assert writer.put_many(table, iter(rows)) == len(rows)
        writer.close()
        return self.reader(directory)

    def test_every_row_comes_back_as_bytes(self, tmp_path: Path) -> None:
        """Each value is what was put."""
        tables = _sample()
        reader = self.stored(tmp_path, tables)
        for table, rows in tables.items():
            for key, value in rows:
                found = reader.get(table, key)
                assert type(found) is bytes
                assert found == value
        reader.close()

    def test_absent_keys_give_none(self, tmp_path: Path) -> None:
        """Absence is None, also for keys that no table can hold and for tables without rows."""
        reader = self.stored(tmp_path, {Table.ENTITY: [(1, b"x")], Table.ALIAS: [(b"a", b"y")]})
        for number in (0, 2, 2**32 - 1, 2**32 + 1, -1, 1 << 40):
            assert reader.get(Table.ENTITY, number) is None
        for name in (b"", b"b", b"A", b"a\0", b"a" * 480, b"a" * 481, b"a" * 5_000):
            assert reader.get(Table.ALIAS, name) is None
        assert reader.get(Table.CHUNK, 1) is None
        assert reader.get(Table.TERM, b"a") is None
        assert reader.get_many(Table.ENTITY, [0, 1, -1, 2**32 + 1]) == [None, b"x", None, None]
        assert reader.get_many(Table.ALIAS, [b"", b"a", b"a" * 5_000]) == [None, b"y", None]
        reader.close()

    def test_get_many_answers_in_the_order_asked(self, tmp_path: Path) -> None:
        """Any number of keys, in any order, repeated keys each time."""
        tables = _sample()
        reader = self.stored(tmp_path, tables)
        generator = random.Random(3)
        for table, rows in tables.items():
            known = dict(rows)
            for count in (0, 1, 2, 15, 16, 17, 63, 64, 65, 128, 700):
                keys = [generator.choice(rows)[0] for _ in range(count)]
                keys += [10**7 + at if table.is_numbered else b"absent%d" % at for at in range(count // 4)]
                generator.shuffle(keys)
                assert reader.get_many(table, keys) == [known.get(key) for key in keys]
        reader.close()

    def test_scan_yields_one_table_in_ascending_order(self, tmp_path: Path) -> None:
        """Numbers by value, names bytewise; neighbours stay out."""
        tables = _sample()
        reader = self.stored(tmp_path, tables)
        for table, rows in tables.items():
            assert list(reader.scan(table)) == rows
        reader.close()

    def test_scan_of_a_table_without_rows_is_empty(self, tmp_path: Path) -> None:
        """Also between tables that have rows."""
        tables = _sample()
        reader = self.stored(tmp_path, {table: tables[table] for table in (Table.META, Table.ENTITY, Table.TERM)})
        for table in Table:
            if table not in (Table.META, Table.ENTITY, Table.TERM):
                assert list(reader.scan(table)) == []
        reader.close()

    def test_tables_may_come_in_any_order_and_in_parts(self, tmp_path: Path) -> None:
        """Ascending keys are asked for within a table only."""
        tables = _sample()
        writer = self.writer(tmp_path)
        for half in (0, 1):
            for table in reversed(Table):
                rows = tables[table]
                middle = len(rows) // 2
                writer.put_many(table, iter(rows[middle:] if half else rows[:middle]))
        writer.close()
        reader = self.reader(tmp_path)
        assert {table: list(reader.scan(table)) for table in Table} == tables
        reader.close()

    def test_keys_of_the_wrong_kind_are_type_errors(self, tmp_path: Path) -> None:
        """For get, get_many and put_many alike."""
        writer = self.writer(tmp_path)
        with _raises(TypeError, naming="ENTITY"):
            writer.put_many(Table.ENTITY, [(b"x", b"")])
        with _raises(TypeError, naming="ALIAS"):
            writer.put_many(Table.ALIAS, [(1, b"")])
        writer.put_many(Table.META, [(b"k", b"v")])
        writer.close()
        reader = self.reader(tmp_path)
        with _raises(TypeError, naming="ENTITY"):
            reader.get(Table.ENTITY, b"x")
        with _raises(TypeError, naming="ALIAS"):
            reader.get(Table.ALIAS, "x")  # type: ignore[arg-type]
        with _raises(TypeError, naming="CHUNK"):
            reader.get_many(Table.CHUNK, [1, b"x"])
        with _raises(TypeError, naming="TERM"):
            reader.get_many(Table.TERM, [b"x", 1])
        reader.close()

    def test_rows_that_no_store_takes_are_value_errors(self, tmp_path: Path) -> None:
        """Repeated, descending or out of range; the message names the table."""
        bad: Sequence[tuple[Table, list[tuple[Key, bytes]]]] = [
            (Table.ENTITY, [(3, b""), (3, b"")]),
            (Table.CHUNK, [(3, b""), (2, b"")]),
            (Table.CHUNK_LINKS, [(-1, b"")]),
            (Table.RELATION, [(2**32, b"")]),
            (Table.ALIAS, [(b"a", b""), (b"a", b"")]),
            (Table.TERM, [(b"b", b""), (b"a", b"")]),
            (Table.ENTITY_ID, [(b"", b"")]),
            (Table.CHUNK_ID, [(b"x" * 481, b"")]),
        ]
        writer = self.writer(tmp_path)
        for table, rows in bad:
            with _raises(ValueError, naming=table.name):
                writer.put_many(table, rows)
        writer.put_many(Table.META, [(b"k", b"v")])
        with _raises(ValueError, naming="META"):
            writer.put_many(Table.META, [(b"k", b"again")])
        writer.close()

    def test_values_outlive_the_reader(self, tmp_path: Path) -> None:
        """What was returned stays valid after close."""
        tables = _sample(rows=50)
        reader = self.stored(tmp_path, tables)
        kept = {table: reader.get_many(table, [key for key, _ in rows]) for table, rows in tables.items()}
        scanned = {table: list(reader.scan(table)) for table in tables}
        reader.close()
        assert kept == {table: [value for _, value in rows] for table, rows in tables.items()}
        assert scanned == tables

    def test_reading_after_close_is_a_value_error(self, tmp_path: Path) -> None:
        """Closing twice is allowed; a scan that had begun ends so too."""
        reader = self.stored(tmp_path, _sample())
        scan = reader.scan(Table.ENTITY)
        next(scan)
        reader.close()
        reader.close()
        with _raises(ValueError):
            reader.get(Table.ENTITY, 1)
        with _raises(ValueError):
            reader.get_many(Table.ALIAS, [b"a"])
        with _raises(ValueError):
            list(reader.scan(Table.ENTITY))
        with _raises(ValueError):
            list(scan)

    def test_threads_share_a_reader(self, tmp_path: Path) -> None:
        """Concurrent look-ups and scans answer as one alone would."""
        tables = _sample(rows=200)
        reader = self.stored(tmp_path, tables)
        _in_threads(lambda: _read_all(reader, tables), count=6)
        reader.close()


class KeyValueFileConformance(KeyValueConformance):
    """The contract of `KeyValueBackend` on top: files that are absent, damaged, shared or replaced."""

    is_deterministic = True
    """Whether the same rows in the same order give the same bytes; a snapshot's checksum then says so."""

    def test_an_absent_file_is_not_found(self, tmp_path: Path) -> None:
        """By name."""
        backend = self.backend()
        with _raises(SidecarNotFoundError, naming=backend.filename):
            backend.open(tmp_path / backend.filename, size_bytes=4096)

    def test_a_file_of_another_size_is_corrupt(self, tmp_path: Path) -> None:
        """Cut at any length, or grown: compared with the manifest before anything else."""
        self.stored(tmp_path, _sample()).close()
        backend = self.backend()
        path = tmp_path / backend.filename
        data = path.read_bytes()
        size = len(data)
        for length in (0, 1, 15, 99, 4096, 8192, size // 2, size - 4096, size - 1, size + 1, size + 4096):
            path.write_bytes((data + bytes(4096))[:length])
            with _raises(SidecarCorruptError, naming=backend.filename):
                backend.open(path, size_bytes=size)

    def test_a_truncated_file_is_corrupt_though_the_manifest_agrees(self, tmp_path: Path) -> None:
        """The file's own header knows better."""
        self.stored(tmp_path, _sample()).close()
        backend = self.backend()
        path = tmp_path / backend.filename
        data = path.read_bytes()
        for length in (0, 1, 15, 99, 4095, 4096, 8192, len(data) // 8192 // 2 * 8192, len(data) - 8192):
            path.write_bytes(data[:length])
            with _raises(SidecarCorruptError, naming=backend.filename):
                backend.open(path, size_bytes=length)

    def test_a_foreign_file_is_corrupt(self, tmp_path: Path) -> None:
        """Text, zeros, noise; a directory is not a file."""
        backend = self.backend()
        path = tmp_path / backend.filename
        for data in (b"{}", b"SQLite format 3\0", bytes(65_536), random.Random(1).randbytes(65_536)):
            path.write_bytes(data)
            with _raises(SidecarCorruptError, naming=backend.filename):
                backend.open(path, size_bytes=len(data))
        path.unlink()
        path.mkdir()
        with _raises(SidecarCorruptError, naming=backend.filename):
            backend.open(path, size_bytes=path.stat().st_size)

    def test_create_refuses_what_exists(self, tmp_path: Path) -> None:
        """And leaves it as it was."""
        backend = self.backend()
        path = tmp_path / backend.filename
        path.write_bytes(b"mine")
        with _raises(FileExistsError):
            backend.create(path)
        assert path.read_bytes() == b"mine"

    def test_writing_leaves_one_file(self, tmp_path: Path) -> None:
        """No journal or lock file beside it; closing the writer twice is allowed, writing after it is not."""
        writer = self.writer(tmp_path)
        writer.put_many(Table.META, [(b"k", b"v")])
        writer.close()
        writer.close()
        with _raises(ValueError):
            writer.put_many(Table.META, [(b"l", b"v")])
        self.reader(tmp_path).close()
        assert [entry.name for entry in tmp_path.iterdir()] == [self.backend().filename]

    def test_the_same_rows_give_the_same_bytes(self, tmp_path: Path) -> None:
        """Unless the adapter says that they need not."""
        contents = []
        for name in ("first", "second"):
            (tmp_path / name).mkdir()
            self.stored(tmp_path / name, _sample()).close()
            contents.append((tmp_path / name / self.backend().filename).read_bytes())
        assert not self.is_deterministic or contents[0] == contents[1]

    def test_a_read_only_directory_is_enough(self, tmp_path: Path) -> None:
        """Nothing is written beside the file."""
        tables = _sample(rows=50)
        self.stored(tmp_path, tables).close()
        path = tmp_path / self.backend().filename
        path.chmod(0o444)
        tmp_path.chmod(0o555)
        try:
            reader = self.reader(tmp_path)
            _read_all(reader, tables)
            reader.close()
        finally:
            tmp_path.chmod(0o755)

    def test_readers_of_one_file_are_independent(self, tmp_path: Path) -> None:
        """Also through another path; closing one leaves the others."""
        tables = _sample(rows=50)
        first = self.stored(tmp_path, tables)
        (tmp_path / "linked").mkdir()
        os.link(tmp_path / self.backend().filename, tmp_path / "linked" / self.backend().filename)
        second, third = self.reader(tmp_path), self.reader(tmp_path / "linked")
        first.close()
        _read_all(second, tables)
        second.close()
        _read_all(third, tables)
        third.close()

    def test_a_reader_keeps_the_snapshot_that_it_opened(self, tmp_path: Path) -> None:
        """A file that was renamed over the old one is for those who open afterwards."""
        old = self.stored(tmp_path, {Table.META: [(b"k", b"old")]})
        (tmp_path / "next").mkdir()
        self.stored(tmp_path / "next", {Table.META: [(b"k", b"new")]}).close()
        (tmp_path / "next" / self.backend().filename).replace(tmp_path / self.backend().filename)
        new = self.reader(tmp_path)
        assert (old.get(Table.META, b"k"), new.get(Table.META, b"k")) == (b"old", b"new")
        old.close()
        new.close()

    def test_threads_open_and_close_for_each_call(self, tmp_path: Path) -> None:
        """As stateless callers do; none fails."""
        tables = _sample(rows=20)
        self.stored(tmp_path, tables).close()

        def calls() -> None:
            for _ in range(40):
                reader = self.reader(tmp_path)
                assert reader.get_many(Table.ENTITY, [0, 1]) == [dict(tables[Table.ENTITY])[at] for at in (0, 1)]
                reader.close()

        _in_threads(calls, count=8)

    def test_forked_workers_read_with_their_own_and_with_inherited_readers(self, tmp_path: Path) -> None:
        """While other threads of the parent read, open and close."""
        tables = _sample(rows=20)
        reader = self.stored(tmp_path, tables)
        stop = threading.Event()

        def busy() -> None:
            while not stop.is_set():
                with_own = self.reader(tmp_path)
                with_own.get(Table.ENTITY, 0)
                with_own.close()
                reader.get_many(Table.ALIAS, [b"a", b"b"])

        def child() -> None:
            own = self.reader(tmp_path)
            _read_all(own, tables)
            own.close()
            _read_all(reader, tables)
            reader.close()
            self.reader(tmp_path).close()

        threads = [threading.Thread(target=busy) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(15):
                run_in_fork(child)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        _read_all(reader, tables)
        reader.close()

    def test_an_inherited_reader_does_not_follow_a_replaced_file(self, tmp_path: Path) -> None:
        """Another snapshot's rows under the same numbers would be wrong without a sign of it."""
        reader = self.stored(tmp_path, {Table.META: [(b"k", b"old")]})
        (tmp_path / "next").mkdir()
        self.stored(tmp_path / "next", {Table.META: [(b"k", b"new")]}).close()
        path = tmp_path / self.backend().filename
        (tmp_path / "next" / self.backend().filename).replace(path)

        def child() -> None:
            with _raises(SidecarNotFoundError, naming="replaced"):
                reader.get(Table.META, b"k")

        run_in_fork(child)
        assert reader.get(Table.META, b"k") == b"old"
        reader.close()


def _read_all(reader: KeyValueReader, tables: Tables) -> None:
    for table, rows in tables.items():
        assert list(reader.scan(table)) == list(rows)
        assert reader.get_many(table, [key for key, _ in rows]) == [value for _, value in rows]
        for key, value in rows[:30]:
            assert reader.get(table, key) == value


def _in_threads(work: Callable[[], None], *, count: int) -> None:
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
