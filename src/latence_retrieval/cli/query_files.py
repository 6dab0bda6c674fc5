"""What a query brings from files: its embedding, and the caller's own first-stage hits."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from latence_retrieval.errors import InvalidInputError, RecordError
from latence_retrieval.npy import read_npy_vector

__all__ = ["Hit", "read_embedding", "read_first_stage"]

Hit = str | tuple[str, float]
"""A chunk id, with its score where it has one."""


def read_embedding(path: Path) -> list[float]:
    """Return one vector: that of a `.npy` file, of shape (d,) or (1, d), or a JSON list of numbers.

    Raises:
        InvalidInputError: the file holds anything else.
    """
    argument = f"--embedding {path}"
    if path.suffix in (".npy", ".npz") or ".npz:" in path.name:
        try:
            return list(read_npy_vector(path))
        except InvalidInputError as error:
            raise InvalidInputError(argument, error.problem, fix=error.fix) from error
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(argument, f"is not JSON ({error})", fix="give a .npy file or a JSON list") from error
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if not isinstance(value, list) or not all(_is_number(part) for part in value):
        raise InvalidInputError(argument, "is no list of numbers", fix="give the one embedding of the question")
    return [_finite(part, argument) for part in value]


def read_first_stage(path: Path) -> list[Hit]:
    """Return the hits of a JSON Lines file, best first; "-" reads standard input.

    A line is a chunk id ("c-1"), a pair (["c-1", 0.83]), or an object ({"id": "c-1", "score": 0.83}).

    Raises:
        RecordError: a line of another shape.
    """
    if str(path) == "-":
        return _hits(sys.stdin, "standard input")
    with path.open(encoding="utf-8") as stream:
        return _hits(stream, path)


def _hits(lines: Iterable[str], name: Path | str) -> list[Hit]:
    hits: list[Hit] = []
    try:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                hits.append(_hit(line, name, number))
    except UnicodeDecodeError as error:
        raise RecordError(name, len(hits) + 1, f"is not UTF-8 ({error.reason})") from error
    return hits


def _hit(line: str, name: Path | str, number: int) -> Hit:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise RecordError(name, number, f"is not JSON: {error}") from error
    identifier, score = _parts(value)
    if isinstance(identifier, str) and score is None:
        return identifier
    if isinstance(identifier, str) and _is_number(score):
        try:
            return identifier, float(score)
        except OverflowError as error:
            raise RecordError(name, number, "the score is too large for a float") from error
    raise RecordError(name, number, 'expected "id", ["id", score] or {"id": "...", "score": 0.5}')


def _parts(value: Any) -> tuple[Any, Any]:
    """Return (id, score) of a line, whatever they are."""
    if isinstance(value, dict):
        return value.get("id", value.get("chunk_id")), value.get("score")
    if isinstance(value, list):
        return (value[0], value[1]) if len(value) == 2 else (None, None)
    return value, None


def _finite(value: float, argument: str) -> float:
    try:
        return float(value)
    except OverflowError as error:
        raise InvalidInputError(argument, "holds a number too large for a float", fix="check the embedding") from error


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
