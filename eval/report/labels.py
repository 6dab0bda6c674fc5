"""How systems and metrics are called, ordered and coloured in reports."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["METRIC_LABELS", "NO_VALUE", "SET_LABELS", "colour_of", "is_library", "kind_of", "ordered"]

METRIC_LABELS = {
    "recall@2": "R@2",
    "recall@5": "R@5",
    "recall@10": "R@10",
    "all_gold@2": "all@2",
    "all_gold@5": "all@5",
    "all_gold@10": "all@10",
    "ndcg@10": "nDCG@10",
    "mrr": "MRR",
    "r_precision": "R-prec",
    "evidence@256": "in 256",
    "evidence@512": "in 512",
    "evidence@1024": "in 1,024",
    "evidence@2048": "in 2,048",
    "packed@256": "packed 256",
    "packed@512": "packed 512",
    "packed@1024": "packed 1,024",
    "packed@2048": "packed 2,048",
    "selection_share": "of bound",
    "anchor_p": "anchor P",
    "anchor_r": "anchor R",
    "anchor_f1": "anchor F1",
    "chain_cover": "chain cover",
    "chain_cover@5": "cover of 5",
    "chain_start": "chain start",
    "chain_in_order": "in order",
}

NO_VALUE = "\u2013"
"""An en dash where a system has no such figure."""

SET_LABELS = {"2wiki_pooled": "2WikiMultihopQA", "hotpotqa_pooled": "HotpotQA", "musique_pooled": "MuSiQue"}
"""Names of the sets as their authors write them."""

_BASELINES = ("dense", "bm25", "rrf")
_BASELINE_COLOURS = {"dense": "#8a8f98", "bm25": "#b0a58c", "rrf": "#6f7b6b"}
_PEER_COLOURS = {"hipporag2-style": "#b4543f", "linearrag-style": "#c88a2b", "lightrag-style": "#8f5aa8"}
_OTHER_PEER = "#a0522d"
_LIBRARY_COLOURS = ("#1f6fb2", "#0f9488", "#3f51b5", "#2a9d4a", "#0b7fab", "#5b7fd1", "#157a5c", "#7a8fe0")


def is_library(system: str) -> bool:
    """Say whether the system is the library's own."""
    return kind_of(system) == "library"


def kind_of(system: str) -> str:
    """Return "baseline", "peer" or "library"."""
    if system in _BASELINES:
        return "baseline"
    return "peer" if system.endswith("-style") else "library"


def ordered(systems: Iterable[str]) -> list[str]:
    """Return baselines, then peers, then the library's own, each in the order given."""
    kinds = ("baseline", "peer", "library")
    return sorted(systems, key=lambda system: kinds.index(kind_of(system)))


def colour_of(system: str, systems: Iterable[str]) -> str:
    """Return the system's colour: fixed for baselines and peers, by place for the library's own."""
    if system in _BASELINE_COLOURS:
        return _BASELINE_COLOURS[system]
    if kind_of(system) == "peer":
        return _PEER_COLOURS.get(system, _OTHER_PEER)
    own = [name for name in systems if is_library(name)]
    return _LIBRARY_COLOURS[own.index(system) % len(_LIBRARY_COLOURS)]
