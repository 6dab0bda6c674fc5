"""Every number that a run of the harness depends on, in one typed place.

The configuration is written into each results file, and it is part of the key under which results are cached.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

__all__ = [
    "CACHE_VARIABLE",
    "DATA_VARIABLE",
    "PROJECT_ROOT",
    "EvalConfig",
    "default_cache_dir",
    "default_data_dir",
]

PROJECT_ROOT = Path(__file__).resolve().parent.parent
DATA_VARIABLE = "LATENCE_EVAL_DATA"
CACHE_VARIABLE = "LATENCE_EVAL_CACHE"


@dataclass(frozen=True, slots=True)
class EvalConfig:
    """Depths, budgets and seeds of a run.

    Attributes:
        cutoffs: ranks at which recall and its kin are reported; the papers of all three sets report 2 and
        5. depth: how many passages a ranking may carry; packing 2,048 tokens needs more than the ten of a
        page. first_stage_depth: how many dense hits are handed to systems that rerank a first stage.
        budgets: token budgets of evidence under a budget. timed_budget: the budget of the call that is
        timed; it is the library's own default. bootstrap_resamples: resamples behind each interval; 2,000
        keep the error of a 95 % bound under a third
            of a point on these sets.
        permutations: sign flips behind each p-value.
        seed: of every random choice in the harness.
        confidence: of the intervals.
        warmup_questions: questions answered before the clock counts, so that caches and imports are paid.
    """

    cutoffs: tuple[int, ...] = (2, 5, 10)
    depth: int = 50
    first_stage_depth: int = 100
    budgets: tuple[int, ...] = (256, 512, 1024, 2048)
    timed_budget: int = 1024
    bootstrap_resamples: int = 2000
    permutations: int = 10_000
    seed: int = 20261130
    confidence: float = 0.95
    warmup_questions: int = 3

    def quick(self) -> EvalConfig:
        """Return the same, for searches over settings and many systems: one budget, and no ranking deeper than the last cutoff.

        The library is then asked once a question instead of once a budget and once more for the deep ranking.
        """
        return replace(self, budgets=(self.timed_budget,), depth=max(self.cutoffs))

    @property
    def is_quick(self) -> bool:
        """Whether rankings end at the last cutoff."""
        return self.depth <= max(self.cutoffs)

    def as_json(self) -> dict[str, Any]:
        """Return the configuration as plain JSON values."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}


def default_data_dir() -> Path:
    """Return where the question sets are: the environment's word, else `../shared/data`."""
    named = os.environ.get(DATA_VARIABLE)
    return Path(named) if named else PROJECT_ROOT.parent / "shared" / "data"


def default_cache_dir() -> Path:
    """Return where sidecars, vectors and finished measurements are kept between runs."""
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else PROJECT_ROOT / ".eval-cache"
