"""Reading `.npy` and `.npz` with the standard library, against what numpy writes."""

from __future__ import annotations

import io
import re
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval.errors import InvalidInputError
from latence_retrieval.npy import npy_shape, read_npy_rows, read_npy_vector

np = pytest.importorskip("numpy")


def saved(path: Path, array: Any) -> Path:
    np.save(path, array, allow_pickle=True)
    return path


@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8"])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 3), (5_000, 17), (3, 100_000)])
def test_rows_are_those_that_numpy_wrote(tmp_path: Path, dtype: str, shape: tuple[int, int]) -> None:
    array = np.random.default_rng(1).normal(size=shape).astype(dtype)
    path = saved(tmp_path / "a.npy", array)
    assert npy_shape(path) == shape
    rows = list(read_npy_rows(str(path)))
    assert len(rows) == shape[0]
    assert all(type(value) is float for row in rows[:2] for value in row)
    assert np.array_equal(np.array(rows, dtype=dtype).reshape(shape), array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_the_format_is_read(tmp_path: Path, version: tuple[int, int]) -> None:
    path = tmp_path / "a.npy"
    with path.open("wb") as file:
        np.lib.format.write_array(file, np.ones((2, 3), "<f4"), version=version)
    assert list(read_npy_rows(path)) == [(1.0, 1.0, 1.0)] * 2


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_a_member_of_an_archive_is_named_after_a_colon(tmp_path: Path, save: Any) -> None:
    path = tmp_path / "v.npz"
    save(path, entities=np.zeros((2, 3), "<f4"), chunks=np.ones((1, 3), "<f2"))
    assert list(read_npy_rows(f"{path}:chunks")) == [(1.0, 1.0, 1.0)]
    assert npy_shape(f"{path}:entities") == (2, 3)


def test_an_archive_of_one_array_needs_no_key(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", only=np.ones((1, 2), "<f8"))
    assert list(read_npy_rows(tmp_path / "v.npz")) == [(1.0, 1.0)]


def test_a_missing_or_ambiguous_key_names_the_keys_there_are(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    np.savez(path, a=np.ones((1, 2)), b=np.ones((1, 2)))
    with pytest.raises(InvalidInputError, match=r"v\.npz: holds several arrays.*keys: a, b"):
        read_npy_rows(path)
    with pytest.raises(InvalidInputError, match=r"v\.npz: has no array 'c'.*keys: a, b"):
        read_npy_rows(f"{path}:c")


@pytest.mark.parametrize(
    ("array", "problem"),
    [
        (np.ones(3, "<f4"), r"shape \(3,\)"),
        (np.ones((2, 2, 2), "<f4"), r"shape \(2, 2, 2\)"),
        (np.ones((2, 0), "<f4"), r"shape \(2, 0\)"),
        (np.ones((2, 3), "<i4"), "type '<i4'"),
        (np.ones((2, 3), ">f4"), "type '>f4'"),
        (np.asfortranarray(np.ones((2, 3), "<f4")), "Fortran order"),
        (np.array([[object()]]), "type '|O'"),
        (np.zeros((2, 3), [("x", "<f4")]), "type "),
    ],
)
def test_other_arrays_are_refused_by_name(tmp_path: Path, array: Any, problem: str) -> None:
    path = saved(tmp_path / "bad.npy", array)
    with pytest.raises(InvalidInputError, match=rf"bad\.npy: .*{problem}.*numpy\.save"):
        read_npy_rows(path)


@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8"])
@pytest.mark.parametrize("shape", [(3,), (1, 3), (1, 1), (1,)])
def test_a_vector_has_one_axis_or_one_row(tmp_path: Path, dtype: str, shape: tuple[int, ...]) -> None:
    array = np.arange(1, 1 + int(np.prod(shape)), dtype=dtype).reshape(shape)
    assert read_npy_vector(saved(tmp_path / "v.npy", array)) == tuple(array.ravel().tolist())
    np.savez(tmp_path / "v.npz", query=array)
    assert read_npy_vector(f"{tmp_path}/v.npz:query") == tuple(array.ravel().tolist())


@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3), (3, 1), (1, 1, 3), (0,)])
def test_an_array_that_is_no_vector_is_told_its_shape(tmp_path: Path, shape: tuple[int, ...]) -> None:
    path = saved(tmp_path / "v.npy", np.ones(shape, "<f4"))
    with pytest.raises(InvalidInputError, match=rf"v\.npy: has shape {re.escape(str(shape))}; save one vector"):
        read_npy_vector(path)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x01\x00",
        b"not numpy at all",
        b"\x93NUMPY\x09\x00\x10\x00" + b" " * 16,
        b"\x93NUMPY\x01\x00\x10\x00" + b"(" * 16,
        b"\x93NUMPY\x01\x00\x03\x00{}\n",
        b"\x93NUMPY\x02\x00\xff\xff\xff\xff",
        b"\x93NUMPY\x01\x00\x40\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 3)}".ljust(64),
        b"\x93NUMPY\x01\x00\x40\x00" + b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1<<9)}".ljust(64),
    ],
)
def test_a_file_with_a_bad_header_is_refused_by_name(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "bad.npy").write_bytes(data)
    with pytest.raises(InvalidInputError, match=r"bad\.npy: "):
        read_npy_rows(tmp_path / "bad.npy")


@pytest.mark.parametrize(
    ("change", "problem"), [(-1, "ends after 999 of 1000 rows"), (1, "goes on after its 1000 rows")]
)
def test_a_file_of_another_length_than_its_header_says_is_refused(tmp_path: Path, change: int, problem: str) -> None:
    path = saved(tmp_path / "a.npy", np.ones((1000, 300), "<f4"))
    data = path.read_bytes()
    path.write_bytes((data + b"x")[: len(data) + change])
    with pytest.raises(InvalidInputError, match=problem):
        list(read_npy_rows(path))


def test_what_is_absent_or_no_archive_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "bad.npz").write_bytes(b"PK\x03\x04 no zip")
    (tmp_path / "folder.npy").mkdir()
    (tmp_path / "loop.npy").symlink_to(tmp_path / "loop.npy")
    paths = ("absent.npy", "absent.npz", "absent.npz:a", "bad.npz", "bad.npz:a", "folder.npy", "loop.npy", "k" * 256)
    for source in (*paths, "null\0.npy", "k" * 256 + ".npz:a"):
        with pytest.raises(InvalidInputError, match=source.partition(":")[0]):
            read_npy_rows(f"{tmp_path}/{source}")


def test_a_damaged_archive_is_refused_while_it_is_read(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.random.default_rng(1).normal(size=(2_000, 50)))
    path = tmp_path / "v.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", buffer.getvalue())
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(InvalidInputError, match=r"v\.npz:a: is damaged"):
        list(read_npy_rows(f"{path}:a"))


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = saved(tmp_path / "big.npy", np.zeros((15_000, 100), "<f2"))  # 3 MB, 48 MB as Python floats
    tracemalloc.start()
    count = sum(1 for _ in read_npy_rows(path))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert count == 15_000
    assert peak_bytes < 3_000_000
