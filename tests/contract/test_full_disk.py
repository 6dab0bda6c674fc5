"""A disk that fills up at any moment of a build: a typed error, nothing at the target changed, nothing left beside it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from latence_retrieval import build_sidecar, plugins, verify_sidecar
from latence_retrieval.errors import BuildError
from latence_retrieval.ports.key_value import Table
from latence_retrieval.sidecar.backends import backend_named

resource = pytest.importorskip("resource", reason="limits the size of files")

WORDS = "foundry harbour mill depot works spindle bronze river bridge castings".split()


def build(target: Path, backend: str) -> str:
    """Publish, and return the snapshot's id."""
    names = [f"Quillon {WORDS[n % 10]} {n}" for n in range(200)]
    report = build_sidecar(
        target,
        chunks=[{"id": f"c{n}", "text": f"{name} ships to Orrin Works. " * 9} for n, name in enumerate(names)],
        entities=[{"id": f"e{n}", "name": name} for n, name in enumerate(names)],
        facts=[{"relation": "ships", "members": [f"e{n}", f"e{n + 1}"], "chunk": f"c{n}"} for n in range(199)],
        chunk_vectors=[[float(n), *[1.0] * 1999] for n in range(200)],  # the largest file, past the scratch file
        max_memory_mb=16,
        backend=backend,
        replace=True,
    )
    return report.manifest.snapshot_id


def error_within(limit_bytes: int, work: Callable[[], object]) -> str:
    """Return the message of the typed error that `work` ends with where no file may grow past the limit."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, limit_bytes))
        try:
            work()
            told = "it was published"
        except BuildError as error:
            told = str(error)
        except BaseException as error:
            told = f"untyped: {error!r}"
        os.write(writing, told.encode())
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        told = pipe.read().decode()
    os.waitpid(child, 0)
    return told


@pytest.mark.parametrize("backend", ["sqlite", "lmdb"])
def test_a_file_that_cannot_grow_is_a_typed_error_and_nothing_is_published(tmp_path: Path, backend: str) -> None:
    if f"kv.{backend}" not in {info.name for info in plugins.discover() if info.state == "ready"} | {"kv.sqlite"}:
        pytest.skip(f"the extra of {backend} is not installed")
    target = tmp_path / "area" / "kb"
    whole = build(target, backend)
    sizes = [path.stat().st_size for path in target.iterdir()]
    limits = {0, 1, 100, 4096, *(size - 1 for size in sizes), *(max(sizes) * part // 10 for part in range(1, 10))}
    for limit in sorted(limits):
        told = error_within(limit, lambda: build(target, backend))
        assert "make room" in told or "space left" in told
        assert str(target) in told
    assert verify_sidecar(target).snapshot_id == whole
    assert [path.name for path in target.parent.iterdir()] == ["kb"]


@pytest.mark.parametrize("backend", ["sqlite", "lmdb"])
def test_a_writer_whose_file_cannot_grow_raises_os_error(tmp_path: Path, backend: str) -> None:
    if backend == "lmdb":
        pytest.importorskip("lmdb")
    rows = [(n, bytes(5000)) for n in range(4000)]

    def write(name: str) -> None:
        writer = backend_named(backend).create(tmp_path / name)
        writer.put_many(Table.CHUNK, rows)
        writer.close()

    write("whole")
    size_bytes = (tmp_path / "whole").stat().st_size
    for limit_bytes in (100_000, size_bytes // 2, size_bytes - 1):
        told = error_within(limit_bytes, lambda: write(f"limited-{limit_bytes}"))  # noqa: B023 - it runs at once
        assert told.startswith("untyped: OSError(5"), told
