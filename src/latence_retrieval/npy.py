"""Stream the rows of a `.npy` file, or of a member of an `.npz` file, with the standard library alone.

The format is NumPy enhancement proposal 1, versions 1.0 to 3.0. Two-dimensional arrays of half, single or
double precision in C order are read, a block of rows at a time: memory does not depend on the file's size.
"""

from __future__ import annotations

import ast
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from latence_retrieval.errors import InvalidInputError

__all__ = ["npy_shape", "read_npy_rows", "read_npy_vector"]

_MAGIC = b"\x93NUMPY"
_TYPES = {"<f2": ("e", 2), "<f4": ("f", 4), "<f8": ("d", 8)}
_FIX = "save a two-dimensional float16, float32 or float64 array in C order, little-endian, with numpy.save"
_VECTOR_FIX = "save one vector: an array of shape (dimension,), or (1, dimension)"
_MAX_HEADER_BYTES = 1 << 20  # a float array's header is about 100 bytes; more is hostile
_BLOCK_BYTES = 1 << 18  # as Python floats a block takes about 16 times this for half precision


def read_npy_rows(source: str | Path) -> Iterator[tuple[float, ...]]:
    """Yield the rows of an array as tuples of floats, streamed.

    Args:
        source: a `.npy` file, or `file.npz:key` for one array of an archive; without the key where it is
            the only one.

    Returns:
        An iterator. The header is read, and checked, before this function returns.

    Raises:
        InvalidInputError: the file is absent, is not such an array, or ends early; names the file. An early
            end, or a damaged archive, raises while iterating.
    """
    stream, name = _open(source)
    try:
        row_count, dimension, kind, item_bytes = _read_header(stream, name)
    except BaseException:
        stream.close()
        raise
    return _rows(stream, name, row_count, struct.Struct(f"<{dimension}{kind}"), dimension * item_bytes)


def read_npy_vector(source: str | Path) -> tuple[float, ...]:
    """Return the one vector of an array of shape (dimension,) or (1, dimension).

    Args:
        source: as for `read_npy_rows`.

    Raises:
        InvalidInputError: as for `read_npy_rows`, or the array has another shape; nothing of it is read then.
    """
    stream, name = _open(source)
    with stream:
        row_count, dimension, kind, item_bytes = _read_header(stream, name, is_vector=True)
        if row_count != 1:
            raise InvalidInputError(name, f"has shape ({row_count}, {dimension})", fix=_VECTOR_FIX)
        (vector,) = _rows(stream, name, 1, struct.Struct(f"<{dimension}{kind}"), dimension * item_bytes)
    return vector


def npy_shape(source: str | Path) -> tuple[int, int]:
    """Return (rows, dimension) of an array without reading its data.

    Args:
        source: as for `read_npy_rows`.

    Raises:
        InvalidInputError: the file is absent or is not such an array.
    """
    stream, name = _open(source)
    with stream:
        row_count, dimension, _, _ = _read_header(stream, name)
    return row_count, dimension


def _rows(
    stream: IO[bytes], name: str, row_count: int, row_struct: struct.Struct, row_bytes: int
) -> Iterator[tuple[float, ...]]:
    block_rows = max(1, _BLOCK_BYTES // row_bytes)
    with stream:
        done = 0
        while done < row_count:
            wanted = min(block_rows, row_count - done)
            data = _read(stream, wanted * row_bytes, name)
            if len(data) < wanted * row_bytes:
                have = done + len(data) // row_bytes
                raise _invalid(name, f"ends after {have} of {row_count} rows")
            yield from row_struct.iter_unpack(data)
            done += wanted
        if _read(stream, 1, name):
            raise _invalid(name, f"goes on after its {row_count} rows")


def _open(source: str | Path) -> tuple[IO[bytes], str]:
    """Open a `.npy` file or an archive's member; return it with the name that messages give it."""
    text = str(source)
    path = Path(source)
    try:
        if path.suffix == ".npz" or (".npz:" in text and not path.exists()):
            file, _, key = text.rpartition(".npz:") if ".npz:" in text else (text[:-4], "", "")
            return _open_member(Path(file + ".npz"), key), text
        return path.open("rb"), text
    except FileNotFoundError:
        raise InvalidInputError(text, "does not exist", fix="give the path of a .npy file") from None
    except IsADirectoryError:
        raise InvalidInputError(text, "is a directory", fix="give the path of a .npy file") from None
    except (OSError, ValueError) as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError(text, f"cannot be read ({error})", fix="check the path and its permissions") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise _invalid(text, f"is not a readable .npz archive ({error})") from error


def _open_member(path: Path, key: str) -> IO[bytes]:
    with zipfile.ZipFile(path) as archive:  # an opened member keeps the file open
        keys = [name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")]
        if not key and len(keys) == 1:
            key = keys[0]
        if key not in keys:
            problem = f"has no array {key!r}" if key else "holds several arrays"
            fix = f"add one of its keys to the path, as in {path.name}:key; keys: {', '.join(keys) or 'none'}"
            raise InvalidInputError(str(path), problem, fix=fix)
        return archive.open(f"{key}.npy")


def _read_header(stream: IO[bytes], name: str, *, is_vector: bool = False) -> tuple[int, int, str, int]:
    """Return rows, dimension, struct code and bytes of an item; of a vector's one axis, one row."""
    prefix = _read(stream, 8, name)
    if prefix[:6] != _MAGIC or len(prefix) < 8:
        raise _invalid(name, "is not in the .npy format")
    if prefix[6] not in (1, 2, 3):
        raise _invalid(name, f"has version {prefix[6]}.{prefix[7]} of the .npy format")
    length_bytes = 2 if prefix[6] == 1 else 4
    length = int.from_bytes(_read(stream, length_bytes, name), "little")
    if length > _MAX_HEADER_BYTES:
        raise _invalid(name, f"has a header of {length} bytes")
    try:
        header = ast.literal_eval(_read(stream, length, name).decode("utf-8" if prefix[6] == 3 else "latin-1").strip())
        shape, order, descr = header["shape"], header["fortran_order"], header["descr"]
    except (ValueError, SyntaxError, KeyError, TypeError, MemoryError, RecursionError) as error:
        raise _invalid(name, "has a header that cannot be read") from error
    if not (isinstance(descr, str) and descr in _TYPES):
        raise _invalid(name, f"holds items of type {descr!r}")
    if not (isinstance(shape, tuple) and all(type(n) is int and n >= 0 for n in shape)):
        raise _invalid(name, f"has shape {shape!r}")
    if not (len(shape) == 2 or (is_vector and len(shape) == 1)) or shape[-1] == 0:
        raise InvalidInputError(name, f"has shape {shape!r}", fix=_VECTOR_FIX if is_vector else _FIX)
    if len(shape) == 1:
        shape = (1, *shape)
    if order:
        raise _invalid(name, "is in Fortran order")
    if shape[1] > _MAX_HEADER_BYTES:
        raise _invalid(name, f"has rows of dimension {shape[1]}")
    kind, item_bytes = _TYPES[descr]
    return shape[0], shape[1], kind, item_bytes


def _read(stream: IO[bytes], size: int, name: str) -> bytes:
    """Read exactly `size` bytes, or what is left."""
    try:
        data = stream.read(size)
        while len(data) < size and (more := stream.read(size - len(data))):
            data += more
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise _invalid(name, f"is damaged ({error})") from error
    return data


def _invalid(name: str, problem: str) -> InvalidInputError:
    return InvalidInputError(name, problem, fix=_FIX)
