"""Percentile bootstrap over questions, for a mean and for a paired difference.

Resample questions with replacement, take the mean of each resample, and read off the quantiles. Efron and
Tibshirani, An Introduction to the Bootstrap (1993), chapter 13; for retrieval, Sakai, SIGIR 2006. The
paired form resamples questions once for both systems, which is the same as bootstrapping the mean of the
per-question differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["bootstrap_interval"]

_CELLS = 2_000_000
"""Most numbers resampled at once, 16 MB; larger sets go through in slices."""


def bootstrap_interval(values: Sequence[float], *, resamples: int, confidence: float, seed: int) -> tuple[float, float]:
    """Return the interval of the mean of `values` (of differences, for a paired comparison).

    Deterministic for one seed. A single value gives an interval of no width.
    """
    import numpy as np

    sample = np.asarray(values, dtype=np.float64)
    means = np.empty(resamples)
    step = max(1, _CELLS // max(1, sample.size))
    for start in range(0, resamples, step):
        stop = min(resamples, start + step)
        means[start:stop] = sample[_picks(sample.size, resamples, seed, start, stop)].mean(axis=1)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(means, [tail, 1.0 - tail])
    return float(low), float(high)


@lru_cache(maxsize=4)
def _all_picks(size: int, resamples: int, seed: int) -> NDArray[Any]:
    import numpy as np

    return np.random.default_rng(seed).integers(0, size, size=(resamples, size), dtype=np.int32)


def _picks(size: int, resamples: int, seed: int, start: int, stop: int) -> NDArray[Any]:
    return _all_picks(size, resamples, seed)[start:stop]
