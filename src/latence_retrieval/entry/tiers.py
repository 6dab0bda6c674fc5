"""The two tiers that need no model: nearest entities by the caller's own embedding, and alias look-ups."""

from __future__ import annotations

import math

from latence_retrieval.entry.linker import QueryLinker
from latence_retrieval.errors import TierUnavailableError
from latence_retrieval.ports.entry_tier import EntryRequest, Link, TierOutcome

__all__ = ["AliasTier", "AnnTier"]

_SHARPNESS = 20.0  # softmax over cosines, as for homonyms


class AnnTier:
    """Tier 0: the entities nearest to the caller's query embedding. Never embeds anything itself."""

    name = "ann"

    def __init__(self, *, nearest_entities: int) -> None:
        self._nearest_entities = nearest_entities

    def enter(self, request: EntryRequest) -> TierOutcome:
        """Return the nearest entities, weighed by the softmax of their cosines."""
        if request.embedding is None:
            raise TierUnavailableError("no query embedding was given")
        if request.nearest is None:
            raise TierUnavailableError("the snapshot has no entity vectors, and no entity index was given")
        found = request.nearest(request.embedding, self._nearest_entities)
        best = found[0][1] if found else 0.0
        return TierOutcome(
            tuple(Link(entity, math.exp(_SHARPNESS * (cosine - best)), self.name) for entity, cosine in found)
        )


class AliasTier:
    """Tier 1: every n-gram of the query, looked up in the alias table."""

    name = "alias"

    def __init__(self, linker: QueryLinker) -> None:
        self._linker = linker

    def enter(self, request: EntryRequest) -> TierOutcome:  # noqa: ARG002 - the linker holds the query already
        """Return the entities that the query names."""
        outcome = self._linker.link_query(self.name)
        notes = ("the look-up limit cut off the end of the query",) if self._linker.is_cut else ()
        return TierOutcome(outcome.links, notes=notes)
