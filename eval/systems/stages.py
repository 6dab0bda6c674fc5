"""Milliseconds of each stage of the library's evidence path, taken from outside.

The library counts work and reads no clock. `evidence/retrieve.py` composes its stages by name, so the
harness puts a clock around those names for one call; a name that is not there is not timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from time import perf_counter
from typing import Any

__all__ = ["STAGES", "timed_stages"]

STAGES = {
    "enter": "entry",
    "take_first_stage": "first stage",
    "push": "walk",
    "rank_chunks": "utility",
    "find_paths": "chains",
    "pack_ranked": "selection",
}
"""Name in `latence_retrieval.evidence.retrieve` to the stage that it is."""


@contextmanager
def timed_stages() -> Iterator[dict[str, float]]:
    """Fill the yielded mapping with milliseconds by stage while the block runs; not for concurrent use."""
    evidence = import_module("latence_retrieval.evidence.retrieve")
    spent: dict[str, float] = {}
    kept = {name: getattr(evidence, name) for name in STAGES if hasattr(evidence, name)}
    try:
        for name, function in kept.items():
            setattr(evidence, name, _clocked(function, STAGES[name], spent))
        yield spent
    finally:
        for name, function in kept.items():
            setattr(evidence, name, function)


def _clocked(function: Callable[..., Any], stage: str, spent: dict[str, float]) -> Callable[..., Any]:
    @wraps(function)
    def run(*arguments: Any, **named: Any) -> Any:
        start = perf_counter()
        try:
            return function(*arguments, **named)
        finally:
            spent[stage] = spent.get(stage, 0.0) + (perf_counter() - start) * 1e3

    return run
