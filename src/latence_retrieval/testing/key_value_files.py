"""What a store's file must stand: absent, damaged, foreign, shared, replaced and forked over. Tests to inherit."""

from __future__ import annotations

import os
import random
import threading
from pathlib import Path

from latence_retrieval.errors import SidecarCorruptError, SidecarNotFoundError
from latence_retrieval.ports.key_value import Table
from latence_retrieval.testing.key_value import KeyValueConformance
from latence_retrieval.testing.key_value_rows import in_threads, raises, read_all, sample_tables
from latence_retrieval.testing.processes import run_in_fork

__all__ = ["KeyValueFileConformance"]


class KeyValueFileConformance(KeyValueConformance):
    """The contract of `KeyValueBackend` on top: files that are absent, damaged, shared or replaced."""

    is_deterministic = True
    """Whether the same rows in the same order give the same bytes; a snapshot's checksum then says so."""

    def test_an_absent_file_is_not_found(self, tmp_path: Path) -> None:
        """By name."""
        backend = self.backend()
        with raises(SidecarNotFoundError, naming=backend.filename):
            backend.open(tmp_path / backend.filename, size_bytes=4096)

    def test_a_file_of_another_size_is_corrupt(self, tmp_path: Path) -> None:
        """Cut at any length, or grown: compared with the manifest before anything else."""
        self.stored(tmp_path, sample_tables()).close()
        backend = self.backend()
        path = tmp_path / backend.filename
        data = path.read_bytes()
        size = len(data)
        for length in (0, 1, 15, 99, 4096, 8192, size // 2, size - 4096, size - 1, size + 1, size + 4096):
            path.write_bytes((data + bytes(4096))[:length])
            with raises(SidecarCorruptError, naming=backend.filename):
                backend.open(path, size_bytes=size)

    def test_a_truncated_file_is_corrupt_though_the_manifest_agrees(self, tmp_path: Path) -> None:
        """The file's own header knows better."""
        self.stored(tmp_path, sample_tables()).close()
        backend = self.backend()
        path = tmp_path / backend.filename
        data = path.read_bytes()
        for length in (0, 1, 15, 99, 4095, 4096, 8192, len(data) // 8192 // 2 * 8192, len(data) - 8192):
            path.write_bytes(data[:length])
            with raises(SidecarCorruptError, naming=backend.filename):
                backend.open(path, size_bytes=length)

    def test_a_foreign_file_is_corrupt(self, tmp_path: Path) -> None:
        """Text, zeros, noise; a directory is not a file."""
        backend = self.backend()
        path = tmp_path / backend.filename
        for data in (b"{}", b"SQLite format 3\0", bytes(65_536), random.Random(1).randbytes(65_536)):
            path.write_bytes(data)
            with raises(SidecarCorruptError, naming=backend.filename):
                backend.open(path, size_bytes=len(data))
        path.unlink()
        path.mkdir()
        with raises(SidecarCorruptError, naming=backend.filename):
            backend.open(path, size_bytes=path.stat().st_size)

    def test_create_refuses_what_exists(self, tmp_path: Path) -> None:
        """And leaves it as it was."""
        backend = self.backend()
        path = tmp_path / backend.filename
        path.write_bytes(b"mine")
        with raises(FileExistsError):
            backend.create(path)
        assert path.read_bytes() == b"mine"

    def test_writing_leaves_one_file(self, tmp_path: Path) -> None:
        """No journal or lock file beside it; closing the writer twice is allowed, writing after it is not."""
        writer = self.writer(tmp_path)
        writer.put_many(Table.META, [(b"k", b"v")])
        writer.close()
        writer.close()
        with raises(ValueError):
            writer.put_many(Table.META, [(b"l", b"v")])
        self.reader(tmp_path).close()
        assert [entry.name for entry in tmp_path.iterdir()] == [self.backend().filename]

    def test_the_same_rows_give_the_same_bytes(self, tmp_path: Path) -> None:
        """Unless the adapter says that they need not."""
        contents = []
        for name in ("first", "second"):
            (tmp_path / name).mkdir()
            self.stored(tmp_path / name, sample_tables()).close()
            contents.append((tmp_path / name / self.backend().filename).read_bytes())
        assert not self.is_deterministic or contents[0] == contents[1]

    def test_a_read_only_directory_is_enough(self, tmp_path: Path) -> None:
        """Nothing is written beside the file."""
        tables = sample_tables(rows=50)
        self.stored(tmp_path, tables).close()
        path = tmp_path / self.backend().filename
        path.chmod(0o444)
        tmp_path.chmod(0o555)
        try:
            reader = self.reader(tmp_path)
            read_all(reader, tables)
            reader.close()
        finally:
            tmp_path.chmod(0o755)

    def test_readers_of_one_file_are_independent(self, tmp_path: Path) -> None:
        """Also through another path; closing one leaves the others."""
        tables = sample_tables(rows=50)
        first = self.stored(tmp_path, tables)
        (tmp_path / "linked").mkdir()
        os.link(tmp_path / self.backend().filename, tmp_path / "linked" / self.backend().filename)
        second, third = self.reader(tmp_path), self.reader(tmp_path / "linked")
        first.close()
        read_all(second, tables)
        second.close()
        read_all(third, tables)
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
        tables = sample_tables(rows=20)
        self.stored(tmp_path, tables).close()

        def calls() -> None:
            for _ in range(40):
                reader = self.reader(tmp_path)
                assert reader.get_many(Table.ENTITY, [0, 1]) == [dict(tables[Table.ENTITY])[at] for at in (0, 1)]
                reader.close()

        in_threads(calls, count=8)

    def test_forked_workers_read_with_their_own_and_with_inherited_readers(self, tmp_path: Path) -> None:
        """While other threads of the parent read, open and close."""
        tables = sample_tables(rows=20)
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
            read_all(own, tables)
            own.close()
            read_all(reader, tables)
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
        read_all(reader, tables)
        reader.close()

    def test_an_inherited_reader_does_not_follow_a_replaced_file(self, tmp_path: Path) -> None:
        """Another snapshot's rows under the same numbers would be wrong without a sign of it."""
        reader = self.stored(tmp_path, {Table.META: [(b"k", b"old")]})
        (tmp_path / "next").mkdir()
        self.stored(tmp_path / "next", {Table.META: [(b"k", b"new")]}).close()
        path = tmp_path / self.backend().filename
        (tmp_path / "next" / self.backend().filename).replace(path)

        def child() -> None:
            with raises(SidecarNotFoundError, naming="replaced"):
                reader.get(Table.META, b"k")

        run_in_fork(child)
        assert reader.get(Table.META, b"k") == b"old"
        reader.close()
