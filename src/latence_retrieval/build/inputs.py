"""Read the builder's input: JSON Lines files (plain or gzip) or iterables, each record validated where it stands."""

from __future__ import annotations

import codecs
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Generic, NamedTuple, TypeVar, cast

from pydantic import BaseModel, ValidationError

from latence_retrieval.arguments import floats
from latence_retrieval.errors import InvalidInputError, RecordError

__all__ = ["Numbered", "RecordSource", "at_line", "read_records", "validated"]

Model = TypeVar("Model", bound=BaseModel)

RecordSource = str | Path | Iterable[Any]
"""A JSON Lines file (`.gz` is decompressed), or an iterable of records or of mappings."""


class Numbered(NamedTuple, Generic[Model]):
    """A record, the line (from one) that it stands on, and its inline vector, if it brought one."""

    line: int
    record: Model
    vector: tuple[float, ...] | None


def read_records(source: RecordSource, model: type[Model], *, argument: str) -> Iterator[Numbered[Model]]:
    """Yield validated records in order, streamed.

    Args:
        source: where they come from.
        model: what each must be.
        argument: the caller's name for the source, for messages about iterables.

    Raises:
        InvalidInputError: the file does not exist or cannot be read, or the source is neither file nor iterable.
        RecordError: a line is not JSON, or not a valid record; it names file, line and field.
    """
    if isinstance(source, (str, Path)):
        yield from _read_file(Path(source), model, argument)
        return
    if not isinstance(source, Iterable):
        raise InvalidInputError(argument, f"is {source!r}", fix="give a JSON Lines file, or an iterable of records")
    for line, item in enumerate(source, start=1):
        yield validated(item, line, model, argument=argument)


def validated(item: Any, line: int, model: type[Model], *, argument: str) -> Numbered[Model]:
    """Return one item of an iterable as a record, as `read_records` does."""
    if isinstance(item, model):
        return Numbered(line, item, None)
    if type(item) is dict or isinstance(item, Mapping):
        return _validated(f"<{argument}>", line, dict(item), model)
    raise RecordError(f"<{argument}>", line, f"is a {type(item).__name__}, expected a mapping or {model.__name__}")


def at_line(source: RecordSource, argument: str, line: int, problem: str) -> RecordError:
    """Return the error of a record by its file, or by the caller's name for an iterable, and its line."""
    return RecordError(source if isinstance(source, (str, Path)) else f"<{argument}>", line, problem)


def _read_file(path: Path, model: type[Model], argument: str) -> Iterator[Numbered[Model]]:
    try:
        stream = cast("IO[bytes]", gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb"))  # noqa: SIM115
    except (OSError, ValueError) as error:
        problem = f"cannot read {str(path)!r}: {getattr(error, 'strerror', None) or error}"
        raise InvalidInputError(argument, problem, fix="check the path") from error
    line = 0
    with stream:
        try:
            for line, raw in enumerate(stream, start=1):
                if line == 1:
                    raw = raw.removeprefix(codecs.BOM_UTF8)  # noqa: PLW2901
                if not raw.strip():
                    continue
                if b'"vector"' in raw:
                    yield _validated(str(path), line, _parsed(path, line, raw), model)
                else:
                    try:
                        record = model.model_validate_json(raw)
                    except ValidationError as error:
                        raise RecordError(path, line, _explained(error)) from error
                    yield Numbered(line, record, None)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise RecordError(path, line + 1, f"the file is damaged: {error}") from error


def _parsed(path: Path, line: int, raw: bytes) -> dict[str, Any]:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise RecordError(path, line, f"is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise RecordError(path, line, "is not a JSON object")
    return value


def _validated(path: str, line: int, value: dict[str, Any], model: type[Model]) -> Numbered[Model]:
    vector = value.pop("vector", None)
    if vector is not None:
        try:
            vector = tuple(floats(vector))
        except (TypeError, ValueError, OverflowError) as error:
            raise RecordError(path, line, f"field vector: not a list of numbers ({error})") from error
    try:
        return Numbered(line, model.model_validate(value), vector)
    except ValidationError as error:
        raise RecordError(path, line, _explained(error)) from error


def _explained(error: ValidationError) -> str:
    """Return the first two problems in words, with the field that each is about."""
    problems = error.errors(include_url=False)
    parts = []
    for problem in problems[:2]:
        where = ".".join(str(part) for part in problem["loc"])
        parts.append(f"field {where}: {problem['msg']}" if where else problem["msg"])
    more = f" (and {len(problems) - 2} more)" if len(problems) > 2 else ""
    return "; ".join(parts) + more
