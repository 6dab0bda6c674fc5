"""Vector files and checks on a caller's embedding."""

from __future__ import annotations

import math
import struct
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval.errors import (
    DimensionMismatchError,
    InvalidInputError,
    SidecarCorruptError,
    SidecarNotFoundError,
)
from latence_retrieval.vectors import NUMPY_SWITCH, VectorFile, checked_embedding, normalised

ROWS = [[1.0, 0.0], [0.0, 0.0], [0.6, 0.8], [0.0, 1.0], [0.6, 0.8], [-1.0, 0.0]]


def written(path: Path, rows: Sequence[Sequence[float]]) -> Path:
    path.write_bytes(b"".join(struct.pack(f"<{len(row)}f", *row) for row in rows))
    return path


@pytest.fixture(params=["numpy", "stdlib"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[VectorFile]:
    if request.param == "numpy":
        pytest.importorskip("numpy")
    path = written(tmp_path / "entity_vecs.f32", ROWS)
    opened = VectorFile(path, dimension=2, count=6, use_numpy=request.param == "numpy")
    yield opened
    opened.close()


def test_a_row_is_a_copy_of_what_was_written(file: VectorFile) -> None:
    row = file.row(2)
    assert list(row) == pytest.approx([0.6, 0.8])
    file.close()
    assert len(row) == 2


def test_dots_follow_the_rows_asked_for(file: VectorFile) -> None:
    assert file.dots([1.0, 1.0], [3, 0, 1, 2, 2]) == [1.0, 1.0, 0.0, 1.4, 1.4]
    assert file.dots([1.0, 1.0], []) == []


def test_nearest_is_best_first_with_ties_by_ascending_row(file: VectorFile) -> None:
    assert file.nearest([3.0, 4.0], 3) == [(2, 1.0), (4, 1.0), (3, 0.8)]


def test_nearest_leaves_absent_rows_out_but_not_orthogonal_ones(file: VectorFile) -> None:
    assert file.nearest([0.0, 2.0], 10) == [(3, 1.0), (2, 0.8), (4, 0.8), (0, 0.0), (5, 0.0)]


@pytest.mark.parametrize(("query", "k"), [([1.0, 0.0], 0), ([1.0, 0.0], -1), ([0.0, 0.0], 3)])
def test_nearest_of_nothing_is_empty(file: VectorFile, query: list[float], k: int) -> None:
    assert file.nearest(query, k) == []


def test_a_query_of_another_dimension_is_refused(file: VectorFile) -> None:
    with pytest.raises(DimensionMismatchError, match="dimension 3, expected 2"):
        file.nearest([1.0, 0.0, 0.0], 1)
    with pytest.raises(DimensionMismatchError):
        file.dots([1.0], [0])


def test_a_row_that_is_not_there_is_an_index_error(file: VectorFile) -> None:
    for row in (-1, 6):
        with pytest.raises(IndexError):
            file.row(row)
        with pytest.raises(IndexError):
            file.dots([1.0, 0.0], [0, row])


def test_absence_is_told_from_a_vector(file: VectorFile) -> None:
    assert [file.is_absent(row) for row in range(6)] == [False, True, False, False, False, False]


def test_reading_after_close_is_a_value_error(file: VectorFile) -> None:
    file.dots([1.0, 0.0], [0])
    file.close()
    file.close()
    with pytest.raises(ValueError, match="closed"):
        file.row(0)
    with pytest.raises(ValueError, match="closed"):
        file.dots([1.0, 0.0], [0])
    with pytest.raises(ValueError, match="closed"):
        file.nearest([1.0, 0.0], 1)


def test_a_file_of_another_size_is_refused_by_name(tmp_path: Path) -> None:
    path = written(tmp_path / "chunk_vecs.f32", ROWS)
    for dimension, count in ((2, 5), (3, 6), (1, 6)):
        with pytest.raises(SidecarCorruptError, match=r"chunk_vecs\.f32: has 48 bytes"):
            VectorFile(path, dimension=dimension, count=count)
    with pytest.raises(SidecarNotFoundError, match=r"absent\.f32"):
        VectorFile(tmp_path / "absent.f32", dimension=2, count=6)


@pytest.mark.parametrize("use_numpy", [True, False])
def test_a_file_without_rows_has_no_neighbours(tmp_path: Path, use_numpy: bool) -> None:
    path = written(tmp_path / "v.f32", [])
    file = VectorFile(path, dimension=2, count=0, use_numpy=use_numpy)
    assert file.nearest([1.0, 0.0], 5) == []
    assert file.dots([1.0, 0.0], []) == []


def test_the_environment_can_turn_numpy_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "v.f32", ROWS)
    monkeypatch.setenv(NUMPY_SWITCH, "0")
    file = VectorFile(path, dimension=2, count=6)
    monkeypatch.setattr(VectorFile, "_np", lambda self: pytest.fail("numpy was used"))
    assert file.nearest([1.0, 0.0], 1) == [(0, 1.0)]


def test_a_machine_without_numpy_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "numpy", None)
    file = VectorFile(written(tmp_path / "v.f32", ROWS), dimension=2, count=6, use_numpy=True)
    assert file.nearest([1.0, 0.0], 1) == [(0, 1.0)]


def test_normalised_gives_unit_length_also_for_extreme_values() -> None:
    for vector in ([3.0, 4.0], [3e300, 4e300], [3e-300, 4e-300]):
        assert normalised(vector) == pytest.approx([0.6, 0.8])
    assert normalised([0.0, 0.0]) == [0.0, 0.0]


@pytest.mark.parametrize("make", [list, tuple, lambda values: array("f", values), iter])
def test_an_embedding_may_be_any_flat_sequence(make: Any) -> None:
    assert checked_embedding(make([1.0, 2.0, 0.5]), 3, "embedding") == [1.0, 2.0, 0.5]


def test_an_embedding_may_be_a_numpy_array() -> None:
    np = pytest.importorskip("numpy")
    for dtype in ("f2", "f4", "f8", "i8"):
        found = checked_embedding(np.array([1, 2], dtype), 2, "embedding")
        assert found == [1.0, 2.0]
        assert all(type(value) is float for value in found)
    with pytest.raises(InvalidInputError, match="one vector, not a batch"):
        checked_embedding(np.ones((2, 2)), 2, "embedding")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_an_embedding_that_is_not_finite_is_refused(value: float) -> None:
    with pytest.raises(InvalidInputError, match=r"embedding: has (nan|inf|-inf) at position 1"):
        checked_embedding([0.0, value], 2, "embedding")


@pytest.mark.parametrize(
    "values", ["0.1 0.2", b"ab", {1.0, 2.0}, {0: 1.0, 1: 2.0}, 3.0, None, [[1.0, 2.0]], ["x", "y"], [10**400, 1]]
)
def test_what_is_no_vector_is_refused(values: Any) -> None:
    with pytest.raises(InvalidInputError, match="embedding: is "):
        checked_embedding(values, 2, "embedding")


def test_an_embedding_of_another_dimension_is_refused() -> None:
    with pytest.raises(DimensionMismatchError, match="embedding: has dimension 2, expected 3"):
        checked_embedding([1.0, 2.0], 3, "embedding")
    with pytest.raises(InvalidInputError, match="is empty"):
        checked_embedding([], None, "embedding")
