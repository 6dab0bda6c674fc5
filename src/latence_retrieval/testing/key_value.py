"""What a store's reader and writer must do, as tests to inherit.

    class TestMyStore(KeyValueFileConformance):  # from key_value_files: this contract, and that of files
        def backend(self):
            return MyBackend()

Needs no test framework at import; pytest collects the methods and provides `tmp_path`.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from latence_retrieval.ports.key_value import Key, KeyValueBackend, KeyValueReader, KeyValueWriter, Table
from latence_retrieval.testing.key_value_rows import Tables, in_threads, raises, read_all, sample_tables

__all__ = ["KeyValueConformance"]


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
        tables = sample_tables()
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
        tables = sample_tables()
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
        tables = sample_tables()
        reader = self.stored(tmp_path, tables)
        for table, rows in tables.items():
            assert list(reader.scan(table)) == rows
        reader.close()

    def test_scan_of_a_table_without_rows_is_empty(self, tmp_path: Path) -> None:
        """Also between tables that have rows."""
        tables = sample_tables()
        reader = self.stored(tmp_path, {table: tables[table] for table in (Table.META, Table.ENTITY, Table.TERM)})
        for table in Table:
            if table not in (Table.META, Table.ENTITY, Table.TERM):
                assert list(reader.scan(table)) == []
        reader.close()

    def test_tables_may_come_in_any_order_and_in_parts(self, tmp_path: Path) -> None:
        """Ascending keys are asked for within a table only."""
        tables = sample_tables()
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
        with raises(TypeError, naming="ENTITY"):
            writer.put_many(Table.ENTITY, [(b"x", b"")])
        with raises(TypeError, naming="ALIAS"):
            writer.put_many(Table.ALIAS, [(1, b"")])
        writer.put_many(Table.META, [(b"k", b"v")])
        writer.close()
        reader = self.reader(tmp_path)
        with raises(TypeError, naming="ENTITY"):
            reader.get(Table.ENTITY, b"x")
        with raises(TypeError, naming="ALIAS"):
            reader.get(Table.ALIAS, "x")  # type: ignore[arg-type]
        with raises(TypeError, naming="CHUNK"):
            reader.get_many(Table.CHUNK, [1, b"x"])
        with raises(TypeError, naming="TERM"):
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
            with raises(ValueError, naming=table.name):
                writer.put_many(table, rows)
        writer.put_many(Table.META, [(b"k", b"v")])
        with raises(ValueError, naming="META"):
            writer.put_many(Table.META, [(b"k", b"again")])
        writer.close()

    def test_values_outlive_the_reader(self, tmp_path: Path) -> None:
        """What was returned stays valid after close."""
        tables = sample_tables(rows=50)
        reader = self.stored(tmp_path, tables)
        kept = {table: reader.get_many(table, [key for key, _ in rows]) for table, rows in tables.items()}
        scanned = {table: list(reader.scan(table)) for table in tables}
        reader.close()
        assert kept == {table: [value for _, value in rows] for table, rows in tables.items()}
        assert scanned == tables

    def test_reading_after_close_is_a_value_error(self, tmp_path: Path) -> None:
        """Closing twice is allowed; a scan that had begun ends so too."""
        reader = self.stored(tmp_path, sample_tables())
        scan = reader.scan(Table.ENTITY)
        next(scan)
        reader.close()
        reader.close()
        with raises(ValueError):
            reader.get(Table.ENTITY, 1)
        with raises(ValueError):
            reader.get_many(Table.ALIAS, [b"a"])
        with raises(ValueError):
            list(reader.scan(Table.ENTITY))
        with raises(ValueError):
            list(scan)

    def test_threads_share_a_reader(self, tmp_path: Path) -> None:
        """Concurrent look-ups and scans answer as one alone would."""
        tables = sample_tables(rows=200)
        reader = self.stored(tmp_path, tables)
        in_threads(lambda: read_all(reader, tables), count=6)
        reader.close()
