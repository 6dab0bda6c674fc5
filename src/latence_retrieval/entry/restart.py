"""The restart vector: where the walk starts, and with how much mass."""

from __future__ import annotations

from collections.abc import Sequence

from latence_retrieval.ports.entry_tier import Link

__all__ = ["restart_vector"]

RECALL_TIER = "ann"
"""The tier whose links only count where no other tier links anything."""


def restart_vector(links: Sequence[Link], *, max_anchors: int) -> list[tuple[Link, float]]:
    """Return the anchors with their restart mass, heaviest first, then by entity number; masses sum to one.

    Mass concentrates on entities that the query provably names (V_llm); the neighbours of the embedding (V0) carry
    it where there are none. An entity that several tiers link, or several forms, counts once, at its heaviest link.
    """
    named = [link for link in links if link.tier != RECALL_TIER]
    strongest: dict[int, Link] = {}
    for link in named or links:
        known = strongest.get(link.entity)
        if known is None or link.weight > known.weight:
            strongest[link.entity] = link
    ordered = sorted(strongest.values(), key=lambda link: (-link.weight, link.entity))[:max_anchors]
    total = sum(link.weight for link in ordered)
    if total <= 0.0:
        return []
    return [(link, link.weight / total) for link in ordered]
