"""What the writer leaves on disk."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from latence_retrieval.ports.key_value import Table
from latence_retrieval_lmdb import LmdbBackend

pytest.importorskip("lmdb")

ROWS = [(n, bytes(3000)) for n in range(4000)]  # more than one large write


def test_the_file_is_alone_and_complete_after_closing(tmp_path: Path) -> None:
    writer = LmdbBackend().create(tmp_path / "kv.lmdb")
    writer.put_many(Table.CHUNK, ROWS)
    writer.close()
    assert [path.name for path in tmp_path.iterdir()] == ["kv.lmdb"]
    reader = LmdbBackend().open(tmp_path / "kv.lmdb", size_bytes=(tmp_path / "kv.lmdb").stat().st_size)
    assert list(reader.scan(Table.CHUNK)) == ROWS
    reader.close()


def test_a_copy_that_fails_is_removed_and_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = LmdbBackend().create(tmp_path / "kv.lmdb")
    writer.put_many(Table.CHUNK, ROWS)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device", descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        writer.close()
    assert [path.name for path in tmp_path.iterdir()] == ["kv.lmdb"]
