"""Write vectors as raw little-endian float32 rows, one a record; a row of zeros says that the record has none."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from types import TracebackType
from typing import Self

from latence_retrieval.errors import BuildError, DimensionMismatchError, InvalidInputError
from latence_retrieval.npy import read_npy_rows

__all__ = ["VectorSink", "VectorSource", "vector_rows"]

VectorSource = str | Path | Iterable[Sequence[float]]
"""A `.npy` file, a member of an `.npz` file (`vectors.npz:chunks`), or rows; one row a record, in order."""


def vector_rows(source: VectorSource | None, argument: str) -> Iterator[Sequence[float]] | None:
    """Return the rows of a source, streamed, or None where there is none.

    Raises:
        InvalidInputError: no source of rows, or a file that cannot be read.
    """
    if source is None:
        return None
    if isinstance(source, (str, Path)):
        return iter(read_npy_rows(source))
    if isinstance(source, (bytes, Mapping, AbstractSet)) or not isinstance(source, Iterable):
        raise InvalidInputError(argument, f"is {source!r}", fix="give a .npy file, or rows of numbers")
    return iter(source)


class VectorSink:
    """One file of vectors in the making: rows come from a source, inline, or are absent.

    Rows are scaled to unit length, so that a dot product is a cosine. Use as a context manager.
    """

    def __init__(self, path: Path, argument: str, rows: Iterator[Sequence[float]] | None) -> None:
        self.path = path
        self.dimension: int | None = None
        self.count = 0
        self.present = 0
        self._argument = argument
        self._rows = rows
        self._taken = 0  # rows of the source
        self._leading_absent = 0
        self._absent = bytearray()  # one flag a record
        self._file = path.open("wb")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, inline: Sequence[float] | None) -> None:
        """Add the next record's row: its inline vector, else the source's next row, else none.

        Raises:
            BuildError: the source has fewer rows than there are records.
            DimensionMismatchError: a row of another length than the first.
            InvalidInputError: NaN or infinity in a row, or no row of numbers.
        """
        row = inline
        if self._rows is not None:
            from_source = next(self._rows, None)
            if from_source is None:
                raise BuildError(
                    f"{self._argument}: only {self._taken} rows, but there are more records; give one row a record, in order"
                )
            self._taken += 1
            row = row if row is not None else from_source
        if row is None:
            self.add_absent()
            return
        try:
            self._write(row)
        except (TypeError, OverflowError) as error:
            raise InvalidInputError(
                self._argument,
                f"row {self.count} is no row of numbers ({error})",
                fix="give one list of numbers a record",
            ) from error

    def add_absent(self) -> None:
        """Add a row for a record without a vector."""
        if self.dimension is None:
            self._leading_absent += 1
        else:
            self._file.write(bytes(4 * self.dimension))
        self._absent.append(1)
        self.count += 1

    def use_up(self) -> None:
        """End the source: it has had one row for each record so far; further records bring their own.

        Raises:
            BuildError: the source has more rows than there are records.
        """
        if self._rows is not None and next(self._rows, None) is not None:
            raise BuildError(
                f"{self._argument}: more than {self._taken} rows, but no more records; give one row a record, in order"
            )
        self._rows = None

    def finish(self, expected_dimension: int | None) -> int | None:
        """Check that the source is used up, flush, and return the dimension (None: no vectors at all).

        Raises:
            BuildError: the source has more rows than there are records.
            DimensionMismatchError: another dimension than the other files of the snapshot.
        """
        self.use_up()
        self._file.flush()
        if self.dimension is not None and expected_dimension not in (None, self.dimension):
            raise DimensionMismatchError(
                self._argument,
                expected=expected_dimension or 0,
                actual=self.dimension,
                fix="make all vectors of a snapshot with one embedding model",
            )
        return self.dimension

    def is_absent(self, number: int) -> bool:
        """Return whether a record has no vector."""
        return bool(self._absent[number])

    def fill(self, rows: Iterable[tuple[int, Sequence[float]]], dimension: int) -> None:
        """Write vectors for records that had none, after `finish`; zero rows stay absent."""
        if self.dimension is None:
            self.dimension = dimension
            self._file.truncate(4 * dimension * self.count)
        for number, row in rows:
            packed, norm = _unit(row)
            self._file.seek(4 * dimension * number)
            self._file.write(packed)
            self.present += norm > 0.0
        self._file.flush()

    def _write(self, row: Sequence[float]) -> None:
        if self.dimension is None:
            if len(row) == 0:
                raise InvalidInputError(self._argument, f"row {self.count} is empty", fix="leave out absent vectors")
            self.dimension = len(row)
            self._file.write(bytes(4 * self.dimension * self._leading_absent))
        if len(row) != self.dimension:
            raise DimensionMismatchError(
                f"{self._argument} (row {self.count})",
                expected=self.dimension,
                actual=len(row),
                fix="make all vectors of a snapshot with one embedding model",
            )
        packed, norm = _unit(row)
        if not math.isfinite(norm):
            raise InvalidInputError(
                self._argument,
                f"row {self.count} has NaN or infinity, or is too long to be scaled",
                fix="repair or leave out the vector",
            )
        self._file.write(packed)
        self._absent.append(norm == 0.0)
        self.count += 1
        self.present += norm > 0.0


def _unit(row: Sequence[float]) -> tuple[bytes, float]:
    """Return the row at unit length as bytes, and its norm."""
    if isinstance(row, (str, bytes, bytearray, Mapping, AbstractSet)):
        raise TypeError(f"it is a {type(row).__name__}")
    norm = math.sqrt(sum(value * value for value in row))
    packed = array("f", row if norm == 0.0 or not math.isfinite(norm) else [value / norm for value in row])
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes(), norm
