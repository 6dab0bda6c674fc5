"""Handles: shared while in use, gone when not; with threads, asyncio, fork and spawn."""

from __future__ import annotations

import asyncio
import gc
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path

import pytest

from latence_retrieval.errors import MissingExtraError, SidecarCorruptError, SidecarError
from latence_retrieval.ports.key_value import Table
from latence_retrieval.testing.processes import run_in_fork
from latence_retrieval_lmdb import LmdbBackend

lmdb = pytest.importorskip("lmdb")

from latence_retrieval_lmdb.handles import open_count  # noqa: E402

ROWS = [(number, b"value %d" % number) for number in range(500)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "kv.lmdb"
    writer = LmdbBackend().create(written)
    writer.put_many(Table.ENTITY, ROWS)
    writer.close()
    return written


def value_of(path: Path, number: int) -> bytes | None:
    reader = LmdbBackend().open(path, size_bytes=path.stat().st_size)
    try:
        return reader.get(Table.ENTITY, number)
    finally:
        reader.close()


def test_no_handle_is_open_when_no_reader_is(path: Path) -> None:
    backend, size = LmdbBackend(), path.stat().st_size
    first = backend.open(path, size_bytes=size)
    second = backend.open(path, size_bytes=size)
    assert open_count() == 1
    first.close()
    first.close()
    assert second.get(Table.ENTITY, 3) == b"value 3"
    second.close()
    assert open_count() == 0
    lmdb.open(os.fspath(path), subdir=False, readonly=True, lock=False).close()


def test_a_forgotten_reader_gives_its_handle_back(path: Path) -> None:
    reader = LmdbBackend().open(path, size_bytes=path.stat().st_size)
    assert open_count() == 1
    del reader
    gc.collect()
    assert open_count() == 0


def test_a_failed_open_leaves_no_handle(path: Path) -> None:
    with pytest.raises(SidecarCorruptError):
        LmdbBackend().open(path, size_bytes=1)
    path.write_bytes(bytes(8192))
    with pytest.raises(SidecarCorruptError):
        LmdbBackend().open(path, size_bytes=8192)
    assert open_count() == 0


def test_a_file_that_other_code_holds_open_is_named(path: Path) -> None:
    environment = lmdb.open(os.fspath(path), subdir=False, readonly=True, lock=False)
    with pytest.raises(SidecarError, match=r"kv\.lmdb.*already open"):
        value_of(path, 1)
    environment.close()
    assert value_of(path, 1) == b"value 1"


def test_the_newer_data_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "kv.lmdb"
    environment = lmdb.open(os.fspath(path), subdir=False, lock=False, lib_version=1)
    with environment.begin(write=True) as transaction:
        transaction.put(b"k", b"v")
    environment.close()
    with pytest.raises(SidecarCorruptError, match="data format 3"):
        value_of(path, 1)


def test_tasks_open_their_own_and_interleave(path: Path) -> None:
    size = path.stat().st_size

    async def call(number: int) -> bytes | None:
        reader = LmdbBackend().open(path, size_bytes=size)
        await asyncio.sleep(0)
        value = reader.get(Table.ENTITY, number)
        await asyncio.sleep(0)
        reader.close()
        return value

    async def calls() -> list[bytes | None]:
        return await asyncio.gather(*(call(number) for number in range(50)))

    assert asyncio.run(calls()) == [b"value %d" % number for number in range(50)]
    assert open_count() == 0


def test_asyncio_worker_threads_open_their_own(path: Path) -> None:
    async def calls() -> list[bytes | None]:
        return await asyncio.gather(*(asyncio.to_thread(value_of, path, number) for number in range(100)))

    assert asyncio.run(calls()) == [b"value %d" % number for number in range(100)]
    assert open_count() == 0


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_pools_of_processes_read(path: Path, method: str) -> None:
    held = LmdbBackend().open(path, size_bytes=path.stat().st_size)
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.starmap(value_of, [(path, number) for number in range(20)])
    assert found == [b"value %d" % number for number in range(20)]
    assert held.get(Table.ENTITY, 7) == b"value 7"
    held.close()


def test_a_forked_child_starts_without_handles(path: Path) -> None:
    held = LmdbBackend().open(path, size_bytes=path.stat().st_size)

    def grandchild() -> None:
        assert open_count() == 0
        assert held.get(Table.ENTITY, 5) == b"value 5"

    def child() -> None:
        assert open_count() == 0
        assert held.get(Table.ENTITY, 4) == b"value 4"
        assert open_count() == 1
        run_in_fork(grandchild)
        held.close()
        assert open_count() == 0

    run_in_fork(child)
    assert open_count() == 1
    held.close()


def test_a_scan_that_began_before_the_fork_goes_on_after_it(path: Path) -> None:
    reader = LmdbBackend().open(path, size_bytes=path.stat().st_size)
    scan = reader.scan(Table.ENTITY)
    begun = [next(scan) for _ in range(300)]

    def child() -> None:
        assert begun + list(scan) == ROWS

    run_in_fork(child)
    assert begun + list(scan) == ROWS
    reader.close()


def test_the_map_grows_as_rows_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("latence_retrieval_lmdb.writer._FIRST_MAP_BYTES", 1 << 16)
    monkeypatch.setattr("latence_retrieval_lmdb.writer._BATCH_BYTES", 1 << 14)
    path = tmp_path / "kv.lmdb"
    rows = [(number, bytes([number % 251]) * (number % 5_000)) for number in range(2_000)]
    writer = LmdbBackend().create(path)
    assert writer.put_many(Table.ENTITY, rows) == 2_000
    writer.close()
    reader = LmdbBackend().open(path, size_bytes=path.stat().st_size)
    assert list(reader.scan(Table.ENTITY)) == rows
    reader.close()


def test_a_full_map_is_doubled_and_the_batch_put_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("latence_retrieval_lmdb.writer._FIRST_MAP_BYTES", 1 << 16)
    monkeypatch.setattr("latence_retrieval_lmdb.writer.LmdbWriter._make_room", lambda *_: None)
    path = tmp_path / "kv.lmdb"
    writer = LmdbBackend().create(path)
    assert writer.put_many(Table.ENTITY, [(number, bytes(3_000)) for number in range(300)]) == 300
    writer.close()
    assert value_of(path, 299) == bytes(3_000)


def test_neither_importing_nor_making_the_backend_imports_lmdb(path: Path) -> None:
    code = (
        "import sys, latence_retrieval_lmdb as extra; extra.LmdbBackend(); "
        "assert 'lmdb' not in sys.modules, 'lmdb was imported'"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_without_lmdb_the_install_line_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name == "lmdb" or name.startswith(("lmdb.", "latence_retrieval_lmdb.")):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "lmdb", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'latence-retrieval\[lmdb\]'"):
        LmdbBackend().open(path, size_bytes=1)
