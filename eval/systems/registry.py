"""System names as the command line takes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from eval.errors import HarnessError
from eval.graph.linkers import LINKERS
from eval.systems.base import System
from eval.systems.bm25 import Bm25
from eval.systems.chunk_retriever import MODES, ChunkSearch
from eval.systems.dense import Dense
from eval.systems.hipporag_style import HippoRagStyle
from eval.systems.latence import TIERS, VARIANTS, Latence
from eval.systems.lightrag_style import LightRagStyle
from eval.systems.linearrag_style import LinearRagStyle
from eval.systems.names import parse_name, split_names
from eval.systems.rrf import Rrf

__all__ = ["default_systems", "known_systems", "make_system", "parse_systems"]

_PLAIN: dict[str, Callable[[], System]] = {
    "dense": Dense,
    "bm25": Bm25,
    "rrf": Rrf,
    "hipporag2-style": HippoRagStyle,
    "linearrag-style": LinearRagStyle,
    "lightrag-style": LightRagStyle,
}


def known_systems() -> dict[str, str]:
    """Return every name with one line on what it is."""
    own = {name: f"the library, entering by {' and '.join(tiers)}" for name, tiers in TIERS.items()}
    variants = {f"TIER:{name}": f"one of them with {settings}" for name, settings in VARIANTS.items()}
    return {
        "dense": "exact cosine over the set's passage vectors: the first stage",
        "bm25": "BM25 over title and text",
        "rrf": "dense and BM25 fused by reciprocal rank",
        **{name: f"the library's ChunkRetriever, {mode}" for name, mode in MODES.items()},
        **own,
        **{f"TIER@{name}": f"one of them over a sidecar linked by: {words}" for name, words in LINKERS.items()},
        **variants,
        "TIER[path=value;path=value]": "one of them with other settings, by dotted path",
        "hipporag2-style": "personalised PageRank over phrases and passages, seeded by facts",
        "linearrag-style": "semantic bridging between entities, then PageRank over passages",
        "lightrag-style": "nearest entities with their one-hop neighbourhood, mixed with dense",
    }


def default_systems() -> list[str]:
    """Return what is measured where nothing is named."""
    return ["dense", "bm25", "rrf", "tier0", "tier1", "tier0+1"]


def make_system(name: str) -> System:
    """Return a fresh system.

    Raises:
        HarnessError: no system or variant has that name.
    """
    parsed = parse_name(name)
    if parsed.base in TIERS:
        if parsed.linker is not None and parsed.linker not in LINKERS:
            raise HarnessError(f"no linker is called {parsed.linker!r}; known: {', '.join(LINKERS)}")
        if parsed.variant is not None and parsed.variant not in VARIANTS:
            raise HarnessError(f"no variant is called {parsed.variant!r}; known: {', '.join(VARIANTS)}")
        return Latence(parsed)
    if name in MODES:
        return ChunkSearch(name)
    if name in _PLAIN:
        return _PLAIN[name]()
    known = ", ".join([*_PLAIN, *MODES, *TIERS])
    raise HarnessError(f"no system is called {name!r}; known: {known}; see `python -m eval systems`")


def parse_systems(names: str | Sequence[str]) -> list[str]:
    """Return the names of a comma-separated list, checked, without repeats.

    Raises:
        HarnessError: the list is empty or a name is unknown.
    """
    parts = split_names(names) if isinstance(names, str) else list(names)
    chosen = list(dict.fromkeys(part.strip() for part in parts if part.strip()))
    if not chosen:
        raise HarnessError("no system is named; see `python -m eval systems`")
    for name in chosen:
        make_system(name)
    return chosen
