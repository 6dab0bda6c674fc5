"""`HnswEntityIndex` over real hnswlib: the guards that it lacks, and agreement with the exact scan."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval.errors import (
    DimensionMismatchError,
    InvalidInputError,
    MissingExtraError,
    SidecarCorruptError,
    SidecarMismatchError,
    SidecarNotFoundError,
    SidecarVersionError,
)
from latence_retrieval.ports.entity_index import EntityIndex
from latence_retrieval.testing.processes import run_in_fork
from latence_retrieval.vectors import VectorFile

np = pytest.importorskip("numpy")
pytest.importorskip("hnswlib")

from latence_retrieval_hnsw import HnswEntityIndex  # noqa: E402

ROWS, DIMENSION = 2_000, 24


@pytest.fixture(scope="module")
def matrix() -> Any:
    vectors = np.random.default_rng(3).normal(size=(ROWS, DIMENSION)).astype("f4")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[::10] = 0.0
    vectors[501:520] = vectors[501]
    vectors[510] = 0.0
    return vectors


@pytest.fixture(scope="module")
def file(matrix: Any, tmp_path_factory: pytest.TempPathFactory) -> VectorFile:
    path = tmp_path_factory.mktemp("vectors") / "entity_vecs.f32"
    matrix.tofile(path)
    return VectorFile(path, dimension=DIMENSION, count=ROWS)


@pytest.fixture(scope="module")
def built(file: VectorFile, tmp_path_factory: pytest.TempPathFactory) -> HnswEntityIndex:
    return HnswEntityIndex.build(file, tmp_path_factory.mktemp("index") / "kb.hnsw", snapshot_id="s1")


@pytest.fixture
def path(built: HnswEntityIndex, tmp_path: Path) -> Path:
    """A copy of the index that a test may damage."""
    for name in ("kb.hnsw", "kb.hnsw.json"):
        (tmp_path / name).write_bytes(built.path.with_name(name).read_bytes())
    return tmp_path / "kb.hnsw"


def queries(count: int) -> list[list[float]]:
    return (3 * np.random.default_rng(4).normal(size=(count, DIMENSION))).tolist()


def test_it_finds_what_the_exact_scan_finds(built: HnswEntityIndex, file: VectorFile) -> None:
    found = expected = 0
    for query in queries(100):
        exact = file.nearest(query, 10)
        near = built.nearest(query, 10)
        assert near == sorted(near, key=lambda pair: (-pair[1], pair[0]))
        cosines = dict(file.nearest(query, ROWS))
        assert all(cosines[number] == cosine for number, cosine in near)
        found += len(set(exact) & set(near))
        expected += 10
    assert found / expected > 0.95


def test_it_fits_the_port(built: HnswEntityIndex) -> None:
    index: EntityIndex = built
    assert index.dimension == DIMENSION
    assert all(type(number) is int for number, _ in index.nearest(queries(1)[0], 5))


def test_equal_cosines_are_ordered_and_cut_by_number(built: HnswEntityIndex, file: VectorFile, matrix: Any) -> None:
    found = built.nearest(matrix[501].tolist(), 5)
    assert [number for number, _ in found] == [501, 502, 503, 504, 505]
    assert len({cosine for _, cosine in found}) == 1
    assert found == file.nearest(matrix[501].tolist(), 5)


def test_absent_rows_are_left_out(built: HnswEntityIndex) -> None:
    assert built.header.present == ROWS - ROWS // 10
    found = built.nearest(queries(1)[0], ROWS)
    assert not any(number % 10 == 0 for number, _ in found)


@pytest.mark.parametrize("k", [ROWS - ROWS // 10, ROWS, 10 * ROWS])
def test_more_than_there_are_gives_what_there_is(built: HnswEntityIndex, k: int) -> None:
    assert 0.9 * built.header.present <= len(built.nearest(queries(1)[0], k)) <= built.header.present


def test_nothing_asked_for_gives_nothing(built: HnswEntityIndex) -> None:
    assert built.nearest(queries(1)[0], 0) == []
    assert built.nearest(queries(1)[0], -3) == []
    assert built.nearest([0.0] * DIMENSION, 5) == []


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_query_that_is_not_finite_is_refused(built: HnswEntityIndex, value: float) -> None:
    with pytest.raises(InvalidInputError, match="position 0"):
        built.nearest([value] + [0.1] * (DIMENSION - 1), 5)


def test_a_query_of_another_dimension_is_refused(built: HnswEntityIndex) -> None:
    with pytest.raises(DimensionMismatchError, match=f"dimension 3, expected {DIMENSION}"):
        built.nearest([0.1, 0.2, 0.3], 5)


def test_an_index_of_other_vectors_is_refused(path: Path) -> None:
    assert HnswEntityIndex(path, dimension=DIMENSION, rows=ROWS, snapshot_id="s1").dimension == DIMENSION
    with pytest.raises(DimensionMismatchError):
        HnswEntityIndex(path, dimension=DIMENSION + 1)
    with pytest.raises(SidecarMismatchError, match="rows 2000, asked for 7"):
        HnswEntityIndex(path, rows=7)
    with pytest.raises(SidecarMismatchError, match="snapshot_id s1, asked for s2"):
        HnswEntityIndex(path, snapshot_id="s2")


def test_a_truncated_index_is_refused(path: Path) -> None:
    data = path.read_bytes()
    for length in (0, 10, 47, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:length])
        with pytest.raises(SidecarCorruptError, match=r"kb\.hnsw: has"):
            HnswEntityIndex(path)


def test_an_altered_index_is_refused(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(SidecarCorruptError, match="was altered"):
        HnswEntityIndex(path)


def test_an_index_of_another_dimension_under_the_same_header_is_refused(path: Path, tmp_path: Path) -> None:
    HnswEntityIndex.build(np.ones((50, DIMENSION + 1), "f4"), tmp_path / "other.hnsw")
    data = (tmp_path / "other.hnsw").read_bytes()
    path.write_bytes(data)
    header = json.loads(path.with_name("kb.hnsw.json").read_text())
    path.with_name("kb.hnsw.json").write_text(json.dumps({**header, "size_bytes": len(data)}))
    with pytest.raises(SidecarCorruptError, match=f"holds 50 vectors of dimension {DIMENSION + 1}"):
        HnswEntityIndex(path, verify=False)


@pytest.mark.parametrize("content", [b"", b"{}", b"not json", b'{"format": "other"}', b"[]"])
def test_a_bad_header_is_refused(path: Path, content: bytes) -> None:
    path.with_name("kb.hnsw.json").write_bytes(content)
    with pytest.raises(SidecarCorruptError, match=r"kb\.hnsw\.json"):
        HnswEntityIndex(path)


def test_a_newer_header_is_refused(path: Path) -> None:
    place = path.with_name("kb.hnsw.json")
    place.write_text(json.dumps({**json.loads(place.read_text()), "version": 2}))
    with pytest.raises(SidecarVersionError, match="version 2"):
        HnswEntityIndex(path)


def test_what_is_absent_is_named(path: Path) -> None:
    path.unlink()
    with pytest.raises(SidecarNotFoundError, match=r"kb\.hnsw: is absent"):
        HnswEntityIndex(path)
    path.with_name("kb.hnsw.json").unlink()
    with pytest.raises(SidecarNotFoundError, match=r"kb\.hnsw\.json: is absent"):
        HnswEntityIndex(path)


def test_one_thread_builds_the_same_twice(file: VectorFile, built: HnswEntityIndex, tmp_path: Path) -> None:
    again = HnswEntityIndex.build(file, tmp_path / "again.hnsw", snapshot_id="s1")
    assert again.header == built.header


def test_an_array_and_a_file_build_the_same(matrix: Any, built: HnswEntityIndex, tmp_path: Path) -> None:
    again = HnswEntityIndex.build(matrix, tmp_path / "again.hnsw", snapshot_id="s1")
    assert [again.nearest(query, 5) for query in queries(20)] == [built.nearest(query, 5) for query in queries(20)]


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_an_index_without_vectors_answers_nothing(tmp_path: Path, rows: int) -> None:
    index = HnswEntityIndex.build(np.zeros((rows, 4), "f4"), tmp_path / "empty.hnsw")
    assert (index.header.rows, index.header.present) == (rows, 0)
    assert index.nearest([1.0, 0.0, 0.0, 0.0], 5) == []


@pytest.mark.parametrize("vectors", [np.ones(3, "f4"), np.ones((2, 0), "f4"), np.ones((2, 2, 2), "f4"), [[1.0, 2.0]]])
def test_vectors_of_another_shape_are_refused(tmp_path: Path, vectors: Any) -> None:
    with pytest.raises(InvalidInputError, match="have shape"):
        HnswEntityIndex.build(vectors, tmp_path / "x.hnsw")


def test_a_row_that_is_not_finite_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    vectors = np.ones((5_000, 3), "f4")
    vectors[4_500, 1] = np.nan
    with pytest.raises(InvalidInputError, match="row 4500"):
        HnswEntityIndex.build(vectors, tmp_path / "x.hnsw")
    assert list(tmp_path.iterdir()) == []


def test_threads_and_forked_workers_share_an_index(built: HnswEntityIndex) -> None:
    asked = queries(50)
    expected = [built.nearest(query, 10) for query in asked]
    results: list[Any] = []
    threads = [
        threading.Thread(target=lambda: results.append([built.nearest(query, 10) for query in asked])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [expected] * 4

    def child() -> None:
        assert [built.nearest(query, 10) for query in asked] == expected

    run_in_fork(child)


def test_importing_the_package_imports_no_library() -> None:
    code = "import sys, latence_retrieval_hnsw; assert not {'numpy', 'hnswlib'} & set(sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)


def test_without_hnswlib_the_install_line_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hnswlib", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'latence-retrieval\[hnsw\]'"):
        HnswEntityIndex(path)
