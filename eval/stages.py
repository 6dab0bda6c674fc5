"""Time the stages of `retrieve_evidence` from outside.

The library counts work and reads no clock. `evidence/retrieve.py` composes its stages by name, so the harness puts
a clock around those names while a block runs.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

__all__ = ["STAGES", "timed_stages"]

STAGES = {
    "open": ("Sidecar.open",),
    "entry": ("enter",),
    "open terms": ("open_terms",),
    "lexical": ("Lexical.best",),
    "walk": ("take_first_stage", "push"),
    "utility": ("rank_chunks",),
    "chains": ("find_paths",),
    "selection": ("pack_ranked",),
    "telling": ("Names", "tell_anchors", "tell_chains", "tell_ranking", "tell_degradations", "EvidenceResult"),
}
"""Stage -> what `evidence/retrieve.py` calls for it. "lexical" is BM25 over the whole snapshot."""


@contextmanager
def timed_stages(clock: Callable[[], float]) -> Iterator[dict[str, float]]:
    """Collect seconds of `clock` by stage while the context lasts; the caller may clear between calls.

    Not for concurrent use.
    """
    call = import_module("latence_retrieval.evidence.retrieve")  # here, so that the harness starts without the library
    spent: dict[str, float] = defaultdict(float)
    undo: list[tuple[Any, str, Any]] = []
    for stage, names in STAGES.items():
        for name in names:
            owner_name, _, attribute = name.rpartition(".")
            owner = getattr(call, owner_name) if owner_name else call
            original = owner.__dict__[attribute]
            undo.append((owner, attribute, original))
            setattr(owner, attribute, _timing(original, stage, spent, clock))
    try:
        yield spent
    finally:
        for owner, attribute, original in reversed(undo):
            setattr(owner, attribute, original)


def _timing(original: Any, stage: str, spent: dict[str, float], clock: Callable[[], float]) -> Any:
    is_class_method = isinstance(original, classmethod)
    function: Callable[..., Any] = original.__func__ if is_class_method else original

    @functools.wraps(function, updated=())
    def timed(*arguments: Any, **options: Any) -> Any:
        before = clock()
        try:
            return function(*arguments, **options)
        finally:
            spent[stage] += clock() - before

    return classmethod(timed) if is_class_method else timed
