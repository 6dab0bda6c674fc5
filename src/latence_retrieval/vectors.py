"""Vectors of a snapshot: raw little-endian float32 rows in a mapped file, and checks on a caller's embedding.

numpy is used where it is installed and never required; both ways give the same numbers, to the last bit
(adr/0043).
"""

from __future__ import annotations

import contextlib
import heapq
import math
import mmap
import operator
import os
import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latence_retrieval.arguments import floats
from latence_retrieval.errors import (
    DimensionMismatchError,
    InvalidInputError,
    SidecarCorruptError,
    SidecarError,
    SidecarNotFoundError,
)

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["COSINE_DECIMALS", "VectorFile", "checked_embedding", "normalised", "rounded_cosines"]

COSINE_DECIMALS = 7
"""Digits kept of a dot product: the stored float32 components carry no more."""

NUMPY_SWITCH = "LATENCE_RETRIEVAL_NUMPY"
"""Environment variable; "0" keeps to the standard library although numpy is installed."""

_SCALE = 10.0**COSINE_DECIMALS
_HALFWAY_BAND = 1e-4  # in units of the last kept digit; the sums of either way agree to about 1e-8 of it
_REPUBLISH = "publish the sidecar again, or copy it again from where it was built"
_sum_of_products = getattr(math, "sumprod", None)  # Python 3.12


class VectorFile:
    """Rows of float32 in a file, mapped read-only; a row of zeros means that the record has no vector.

    Rows that are not zero have unit length. Safe for threads; a forked worker may go on using it.
    """

    def __init__(self, path: Path, *, dimension: int, count: int, use_numpy: bool | None = None) -> None:
        """Map the file after comparing its size with `dimension` and `count`.

        Args:
            path: the file.
            dimension: length of a row.
            count: number of rows.
            use_numpy: False keeps to the standard library; None uses numpy where it is installed.

        Raises:
            SidecarNotFoundError: the file is absent.
            SidecarCorruptError: the file has another size.
        """
        self.path = path
        self.dimension = dimension
        self.count = count
        self._row_bytes = 4 * dimension
        self._use_numpy = os.environ.get(NUMPY_SWITCH) != "0" if use_numpy is None else use_numpy
        self._numpy: ModuleType | None = None
        self._matrix: Any = None
        self._map = self._mapped()

    def _mapped(self) -> mmap.mmap | bytes | None:
        expected = self._row_bytes * self.count
        try:
            with self.path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                if size != expected:
                    shape = f"{self.count} rows of {self.dimension} floats"
                    problem = f"has {size} bytes, expected {expected} ({shape})"
                    raise SidecarCorruptError(self.path, problem, fix=_REPUBLISH)
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        except FileNotFoundError:
            raise SidecarNotFoundError(self.path, "is absent", fix=_REPUBLISH) from None
        except OSError as error:
            problem = f"cannot be mapped ({error.strerror or error})"
            fix = "check its permissions, its disk, and how many files this process has open"
            raise SidecarError(self.path, problem, fix=fix) from error

    def close(self) -> None:
        """Unmap the file. Closing twice is allowed; reading after it raises ValueError."""
        mapped, self._map, self._matrix = self._map, None, None
        if isinstance(mapped, mmap.mmap):
            with contextlib.suppress(BufferError):  # a scan in another thread holds it, and unmaps it at its end
                mapped.close()

    def row(self, number: int) -> array[float]:
        """Return a copy of a row.

        Raises:
            IndexError: there is no such row.
            ValueError: the file is closed.
        """
        if not 0 <= number < self.count:
            raise IndexError(f"{self.path}: row {number} of {self.count}")
        if self._map is None:
            raise ValueError(f"{self.path} is closed")
        start = number * self._row_bytes
        floats = array("f", self._map[start : start + self._row_bytes])
        if sys.byteorder == "big":
            floats.byteswap()
        return floats

    def is_absent(self, number: int) -> bool:
        """Whether a row is all zeros: its record has no vector."""
        return not any(self.row(number))

    def dots(self, query: Sequence[float], rows: Sequence[int]) -> list[float]:
        """Return the dot product of `query` with each of `rows`, summed in double precision, to 7 decimals.

        Args:
            query: of the file's dimension; of unit length, the results are cosines.
            rows: row numbers; an absent row gives 0.0.

        Raises:
            DimensionMismatchError: the query has another length.
            IndexError: there is no such row.
        """
        self._check_dimension(query)
        matrix = self._as_matrix() if rows else None
        if matrix is None:
            return [_rounded(_dot(query, floats), query, floats) for floats in map(self.row, rows)]
        if min(rows) < 0 or max(rows) >= self.count:
            raise IndexError(f"{self.path}: a row outside 0 to {self.count - 1}")
        products = matrix[rows].astype("f8") @ self._np().asarray(query, dtype="f8")
        return _all_rounded(self._np(), products, lambda at: (query, self.row(rows[at])))

    def pair_dots(self, rows: Sequence[int], other: VectorFile, other_rows: Sequence[int]) -> list[float]:
        """Return the dot product of each of `rows` with the row of `other` at the same place, as `dots` does.

        Raises:
            DimensionMismatchError: the files have different dimensions.
            IndexError: there is no such row.
        """
        if other.dimension != self.dimension:
            raise DimensionMismatchError("other vectors", expected=self.dimension, actual=other.dimension)
        left = self._as_matrix() if rows else None
        right = other._as_matrix() if other_rows else None
        if left is None or right is None:
            pairs = [(self.row(row), other.row(place)) for row, place in zip(rows, other_rows, strict=True)]
            return [_rounded(_dot(first, second), first, second) for first, second in pairs]
        for file, numbers in ((self, rows), (other, other_rows)):
            if min(numbers) < 0 or max(numbers) >= file.count:
                raise IndexError(f"{file.path}: a row outside 0 to {file.count - 1}")
        products = self._np().einsum("ij,ij->i", left[rows].astype("f8"), right[other_rows].astype("f8"))
        return _all_rounded(self._np(), products, lambda at: (self.row(rows[at]), other.row(other_rows[at])))

    def nearest(self, query: Sequence[float], k: int) -> list[tuple[int, float]]:
        """Return the `k` rows of highest cosine with `query`, by an exact scan.

        Args:
            query: of the file's dimension, any length but zero; a zero query has no neighbours.
            k: how many; fewer come back where fewer rows are present.

        Returns:
            Pairs of row and cosine in [-1, 1], best first, ties by ascending row. Absent rows are left out.

        Raises:
            DimensionMismatchError: the query has another length.
        """
        self._check_dimension(query)
        unit = normalised(query)
        if k <= 0 or not any(unit):
            return []
        rows = self._candidates(unit, k)
        scored = zip(rows, self.dots(unit, rows), strict=True)
        present = (pair for pair in scored if pair[1] or not self.is_absent(pair[0]))
        kept = ((row, min(1.0, max(-1.0, cosine))) for row, cosine in present)
        return heapq.nsmallest(k, kept, key=lambda pair: (-pair[1], pair[0]))

    def _candidates(self, unit: Sequence[float], k: int) -> Sequence[int]:
        """Return the rows that may be among the best `k`: all, or what a float32 scan cannot rule out."""
        matrix = self._as_matrix()
        if matrix is None or self.count <= 4 * k:
            return range(self.count)
        np = self._np()
        rough = matrix @ np.asarray(unit, dtype="f4")
        zeros = np.flatnonzero(rough == 0.0)
        rough[zeros[~matrix[zeros].any(axis=1)]] = -np.inf  # absent rows must not stand among the best
        # Higham, Accuracy and Stability (2002), 3.5: |error| <= n u / (1 - n u) for unit vectors; both ends,
        # and twice that for a query that was rounded to single precision.
        margin = 4 * (self.dimension + 2) * 2.0**-24
        floor = np.partition(rough, self.count - k)[self.count - k] - margin
        chosen: list[int] = np.flatnonzero(rough >= floor).tolist()
        return chosen

    def _check_dimension(self, query: Sequence[float]) -> None:
        if len(query) != self.dimension:
            raise DimensionMismatchError("query vector", expected=self.dimension, actual=len(query))

    def _as_matrix(self) -> Any:
        """Return the rows as a numpy array over the mapping, or None to go on without numpy."""
        if self._matrix is not None:
            return self._matrix
        if self._map is None:
            raise ValueError(f"{self.path} is closed")
        if not self._use_numpy or not self.count:
            return None
        try:
            np = self._np()
        except ModuleNotFoundError:
            self._use_numpy = False
            return None
        matrix = np.frombuffer(self._map, dtype="<f4").reshape(self.count, self.dimension)
        self._matrix = matrix
        return matrix

    def _np(self) -> Any:
        if self._numpy is None:
            import numpy as np

            self._numpy = np
        return self._numpy


def rounded_cosines(query: Sequence[float], rows: Any) -> list[float]:
    """Return the cosines of a unit vector with unit rows, rounded as `VectorFile.nearest` rounds them.

    Args:
        query: of unit length.
        rows: a float32 numpy array of unit rows, such as an index hands out.
    """
    import numpy as np

    cosines = _all_rounded(np, rows.astype("f8").dot(query), lambda at: (query, rows[at].tolist()))
    return [min(1.0, max(-1.0, cosine)) for cosine in cosines]


def normalised(vector: Sequence[float]) -> list[float]:
    """Return the vector at unit length; a zero vector comes back as it is."""
    norm = math.hypot(*vector)
    if math.isinf(norm):  # finite components whose squares are not: bring them near one first
        largest = max(map(abs, vector))
        return normalised([value / largest for value in vector])
    return [float(value) / norm for value in vector] if norm > 0.0 else [0.0] * len(vector)


def checked_embedding(values: Iterable[float], dimension: int | None, argument: str) -> list[float]:
    """Return a caller's vector as a list of floats.

    Args:
        values: a list, tuple, `array` or one-dimensional numpy array, or another iterable of numbers.
        dimension: what it must have; None for any but 0.
        argument: the name that an error gives.

    Raises:
        DimensionMismatchError: another dimension.
        InvalidInputError: not a flat sequence of numbers, or NaN or infinity in it.
    """
    try:
        vector = floats(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(
            argument,
            f"is not a flat sequence of numbers ({error})",
            fix="pass one vector, not a batch or a text",
        ) from error
    if dimension is not None and len(vector) != dimension:
        raise DimensionMismatchError(argument, expected=dimension, actual=len(vector))
    if not vector:
        raise InvalidInputError(argument, "is empty", fix="pass the embedding, or None where there is none")
    if not all(map(math.isfinite, vector)):
        position = next(place for place, value in enumerate(vector) if not math.isfinite(value))
        raise InvalidInputError(
            argument,
            f"has {vector[position]} at position {position}",
            fix="pass finite numbers; check the embedding call",
        )
    return vector


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    if _sum_of_products is not None:
        return float(_sum_of_products(left, right))
    total: float = sum(map(operator.mul, left, right), 0.0)
    return total


def _rounded(value: float, left: Sequence[float], right: Sequence[float]) -> float:
    """Round the dot product of two vectors to 7 decimals, the same whatever the order of summation was.

    Two sums that differ in their last bits can only round apart near a halfway point; there, the exactly
    rounded sum (`math.fsum`) decides for both.
    """
    scaled = value * _SCALE
    if abs(abs(scaled - math.floor(scaled)) - 0.5) < _HALFWAY_BAND:
        scaled = math.fsum(map(operator.mul, left, right)) * _SCALE
    return round(scaled) / _SCALE


def _all_rounded(
    np: Any, products: Any, factors: Callable[[int], tuple[Sequence[float], Sequence[float]]]
) -> list[float]:
    """Round an array of dot products as `_rounded` does; `factors` gives the two vectors at a place."""
    scaled = products * _SCALE
    rounded = np.rint(scaled)
    for at in np.flatnonzero(np.abs(np.abs(scaled - np.floor(scaled)) - 0.5) < _HALFWAY_BAND).tolist():
        rounded[at] = round(math.fsum(map(operator.mul, *factors(at))) * _SCALE)
    values: list[float] = (rounded / _SCALE + 0.0).tolist()  # + 0.0: no negative zero
    return values
