"""Vectors: every row is of unit length, or all zeros for a record that has none."""

from __future__ import annotations

import operator

from latence_retrieval.errors import SidecarCorruptError
from latence_retrieval.sidecar.read import Sidecar

__all__ = ["check_vectors"]

_TOLERANCE = 1e-3  # of the squared length: float32 rounding of 10,000 dimensions stays below it


def check_vectors(sidecar: Sidecar) -> None:
    """Read every row of every file of vectors.

    Raises:
        SidecarCorruptError: a row holds NaN or infinity, or has another length.
    """
    for file in (sidecar.entity_vectors, sidecar.chunk_vectors, sidecar.relation_vectors):
        for number in range(0 if file is None else file.count):
            row = file.row(number) if file is not None else ()
            squares = sum(map(operator.mul, row, row))
            if squares != 0.0 and not abs(squares - 1.0) < _TOLERANCE:  # NaN is not less
                path = sidecar.path if file is None else file.path
                problem = f"row {number} is neither of unit length nor all zeros (its square is {squares})"
                raise SidecarCorruptError(path, problem, fix="build it again")
