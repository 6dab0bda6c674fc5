"""Exact nearest neighbours in memory: the same ranking with numpy and without.

A rough scan (numpy in single precision where it is installed, else the standard library) rules out what cannot be
among the best; the rest is summed exactly (`math.fsum`) and rounded to seven decimals. So neither the order of
summation nor numpy can change a ranking or break a tie.
"""

from __future__ import annotations

import heapq
import math
import operator
import os
from array import array
from collections.abc import Collection, Sequence
from typing import Any

from latence_retrieval.errors import DimensionMismatchError
from latence_retrieval.vectors import COSINE_DECIMALS, NUMPY_SWITCH, normalised

__all__ = ["VectorRows"]

# 2 n u for unit vectors of n float32 components, twice for both ends: Higham (2002), section 3.5.
_MARGIN_PER_DIMENSION = 4 * 2.0**-24


class VectorRows:
    """Unit vectors by id. Not locked: its owner serialises calls."""

    def __init__(self, dimension: int, *, use_numpy: bool | None = None) -> None:
        """Start empty.

        Args:
            dimension: length of every vector.
            use_numpy: False keeps to the standard library; None uses numpy where it is installed.
        """
        self.dimension = dimension
        self._use_numpy = os.environ.get(NUMPY_SWITCH) != "0" if use_numpy is None else use_numpy
        self._floats = array("f")
        self._ids: list[str] = []
        self._row_of: dict[str, int] = {}
        self._matrix: Any = None  # of the present state; dropped by every change

    def __len__(self) -> int:
        """Return the number of vectors."""
        return len(self._ids)

    def check(self, vector: Sequence[float]) -> None:
        """Refuse a vector of another dimension.

        Raises:
            DimensionMismatchError: naming both.
        """
        if len(vector) != self.dimension:
            raise DimensionMismatchError("vector", expected=self.dimension, actual=len(vector))

    def put(self, identifier: str, vector: Sequence[float]) -> None:
        """Store a vector under an id, in place of an older one; a zero vector is as none."""
        self.check(vector)
        self.remove(identifier)
        unit = normalised(vector)
        if any(unit):
            self._row_of[identifier] = len(self._ids)
            self._ids.append(identifier)
            self._floats.extend(unit)

    def remove(self, identifier: str) -> None:
        """Forget a vector; allowed where there is none."""
        self._matrix = None
        row = self._row_of.pop(identifier, None)
        if row is None:
            return
        width, last = self.dimension, len(self._ids) - 1
        if row != last:
            self._floats[row * width : (row + 1) * width] = self._floats[last * width :]
            self._ids[row] = self._ids[last]
            self._row_of[self._ids[row]] = row
        del self._floats[last * width :]
        self._ids.pop()

    def nearest(
        self, embedding: Sequence[float], k: int, *, allowed: Collection[str] | None = None
    ) -> list[tuple[str, float]]:
        """Return at most `k` pairs of id and cosine, by cosine descending, then id ascending.

        Args:
            embedding: a finite vector of the right dimension; a zero vector is near nothing.
            k: how many.
            allowed: the only ids that may come back; None for all.
        """
        unit = normalised(embedding)
        if k <= 0 or not self._ids or not any(unit):
            return []
        rows: Sequence[int] = range(len(self._ids))
        if allowed is not None:
            rows = sorted(self._row_of[identifier] for identifier in allowed if identifier in self._row_of)
        if len(rows) > k:
            rows = self._not_ruled_out(unit, k, rows)
        scored = [(self._ids[row], self._cosine(unit, row)) for row in rows]
        return heapq.nsmallest(k, scored, key=lambda pair: (-pair[1], pair[0]))

    def _cosine(self, unit: Sequence[float], row: int) -> float:
        exact = math.fsum(map(operator.mul, unit, self._row(row)))
        return min(1.0, max(-1.0, round(exact, COSINE_DECIMALS)))

    def _row(self, row: int) -> array[float]:
        return self._floats[row * self.dimension : (row + 1) * self.dimension]

    def _not_ruled_out(self, unit: Sequence[float], k: int, rows: Sequence[int]) -> list[int]:
        """Return the rows that may be among the best `k` of `rows`."""
        margin = _MARGIN_PER_DIMENSION * (self.dimension + 2) + 10.0**-COSINE_DECIMALS
        np = self._numpy()
        if np is None:
            rough = [sum(map(operator.mul, unit, self._row(row))) for row in rows]
            floor = heapq.nlargest(k, rough)[-1] - margin
            return [row for row, value in zip(rows, rough, strict=True) if value >= floor]
        if self._matrix is None:
            self._matrix = np.array(self._floats, dtype="f4").reshape(-1, self.dimension)
        scores = self._matrix @ np.asarray(unit, dtype="f4")
        if len(rows) < len(self._ids):
            places = np.asarray(rows)
            scores = scores[places]
        else:
            places = None
        floor = np.partition(scores, len(rows) - k)[len(rows) - k] - margin
        kept = np.flatnonzero(scores >= floor)
        chosen: list[int] = (kept if places is None else places[kept]).tolist()
        return chosen

    def _numpy(self) -> Any:
        """Return numpy, or None to go on without it."""
        if not self._use_numpy:
            return None
        try:
            import numpy as np
        except ModuleNotFoundError:
            self._use_numpy = False
            return None
        return np
