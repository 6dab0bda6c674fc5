"""Time the stages of `retrieve_evidence` from outside, by wrapping the names that it calls them by."""

from __future__ import annotations

import functools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import latence_retrieval.evidence.retrieve as call

__all__ = ["STAGES", "stages_timed"]

STAGES = {
    "open": ("Sidecar.open",),
    "tier 1": ("enter",),
    "lexical": ("Lexical.best",),
    "walk": ("take_first_stage", "push"),
    "utility": ("rank_chunks",),
    "chains": ("find_paths",),
    "selection": ("pack_ranked",),
    "telling": ("Names", "tell_anchors", "tell_chains", "tell_ranking", "tell_degradations", "EvidenceResult"),
}
"""Stage -> what `evidence/retrieve.py` calls for it. "lexical" is BM25 over the whole snapshot."""


@contextmanager
def stages_timed() -> Iterator[dict[str, float]]:
    """Collect seconds of processor time by stage while the context lasts; the caller clears between calls."""
    spent: dict[str, float] = defaultdict(float)
    undo: list[tuple[Any, str, Any]] = []
    for stage, names in STAGES.items():
        for name in names:
            owner_name, _, attribute = name.rpartition(".")
            owner = getattr(call, owner_name) if owner_name else call
            original = owner.__dict__[attribute]
            undo.append((owner, attribute, original))
            setattr(owner, attribute, _timing(original, stage, spent))
    try:
        yield spent
    finally:
        for owner, attribute, original in reversed(undo):
            setattr(owner, attribute, original)


def _timing(original: Any, stage: str, spent: dict[str, float]) -> Any:
    is_class_method = isinstance(original, classmethod)
    function: Callable[..., Any] = original.__func__ if is_class_method else original

    @functools.wraps(function, updated=())
    def timed(*arguments: Any, **options: Any) -> Any:
        before = time.thread_time()
        try:
            return function(*arguments, **options)
        finally:
            spent[stage] += time.thread_time() - before

    return classmethod(timed) if is_class_method else timed
