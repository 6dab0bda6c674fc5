"""Reading JSON, JSON Lines and their gzipped forms, with errors that name file and line."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from eval.errors import DataError

__all__ = ["find_file", "read_json", "read_json_lines", "sha256_of"]

_BLOCK_BYTES = 1 << 20


def find_file(folder: Path, stem: str) -> Path | None:
    """Return `folder/stem` or its gzipped form, whichever is there; the plain file wins."""
    for candidate in (folder / stem, folder / f"{stem}.gz"):
        if candidate.is_file():
            return candidate
    return None


def _open_text(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return cast("IO[str]", gzip.open(path, "rt", encoding="utf-8"))
    return path.open(encoding="utf-8")


def read_json_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSON Lines file; blank lines are skipped.

    Raises:
        DataError: a line is not a JSON object, or the file is cut off.
    """
    number = 0
    try:
        with _open_text(path) as lines:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                row = json.loads(line)
                if not isinstance(row, dict):
                    raise DataError(path, f"line {number} is not a JSON object", fix="download the file again")
                yield row
    except (json.JSONDecodeError, UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
        problem = f"cannot be read after line {max(number - 1, 0)} ({type(error).__name__})"
        raise DataError(path, problem, fix="download the file again") from error


def read_json(path: Path) -> Any:
    """Return the value of a JSON file.

    Raises:
        DataError: the file is not JSON.
    """
    try:
        with _open_text(path) as text:
            return json.load(text)
    except (json.JSONDecodeError, UnicodeDecodeError, EOFError, gzip.BadGzipFile) as error:
        raise DataError(path, f"is not JSON ({error})", fix="download the file again") from error


def sha256_of(path: Path) -> str:
    """Return the hexadecimal sha256 of a file's bytes."""
    digest = hashlib.sha256()
    with path.open("rb") as data:
        while block := data.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()
