"""Latency percentiles in milliseconds, by the nearest-rank method.

    p-th percentile = the value of rank ⌈p / 100 · n⌉ among n ascending values

NIST/SEMATECH e-Handbook of Statistical Methods, section 7.2.6.2. No interpolation: each figure was really
measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["percentile"]


def percentile(values: Sequence[float], *, p: float) -> float:
    """Return the p-th percentile of at least one value, 0 < p ≤ 100."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(p / 100.0 * len(ordered)) - 1)]
