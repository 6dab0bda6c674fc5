"""Packing, composed: the ranked passages with their texts and reasons, under the budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from latence_retrieval.chains.search import Path
from latence_retrieval.evidence.ranking import Ranked
from latence_retrieval.evidence.telling import Names
from latence_retrieval.ports.token_counter import TokenCounter
from latence_retrieval.results import Dropped, RankedChunk, Selection, Signal
from latence_retrieval.select.pack import Candidate, pack
from latence_retrieval.settings import SelectionSettings

__all__ = ["pack_ranked"]

_TOLD_SIGNALS = {
    Signal.ACTIVATION: "the walk reaches it",
    Signal.SIMILARITY: "like the question",
    Signal.LEXICAL: "shares words with the question",
    Signal.TRANSLATED: "like what the question asks of a bridge entity",
    Signal.CONFIDENCE: "witnesses confident facts",
    Signal.RELQ: "states a relation that the question asks for",
}


def pack_ranked(
    ranked: Ranked,
    ranking: Sequence[RankedChunk],
    paths: Mapping[int, Path],
    names: Names,
    *,
    budget_tokens: int,
    count: TokenCounter,
    settings: SelectionSettings,
) -> tuple[Selection, tuple[Dropped, ...]]:
    """Choose and pack; passages that the snapshot does not hold are dropped with that reason."""
    order = ranked.order[: len(ranking)][: settings.max_candidates]
    candidates = [
        Candidate(names.chunks[chunk], told.utility, ranked.worth[chunk], _reasons(told, ranked.utilities.weights))
        for chunk, told in zip(order, ranking, strict=False)
    ]
    place_of = {chunk: place for place, chunk in enumerate(order)}
    chains = [
        frozenset(place_of[chunk] for chunk in path.chunks)
        for path in paths.values()
        if all(chunk in place_of for chunk in path.chunks)
    ]
    if budget_tokens == 0:
        return Selection(), ()
    selection, dropped = pack(candidates, chains, budget_tokens=budget_tokens, count=count, settings=settings)
    dropped += [
        Dropped(chunk_id=told.chunk_id, reason="ranked below the passages that are considered for packing")
        for told in ranking[len(order) : len(ranked.order)]
    ]
    dropped += [
        Dropped(chunk_id=told.chunk_id, reason="its text is not in this snapshot")
        for told in ranking[len(ranked.order) :]
    ]
    return selection, tuple(dropped)


def _reasons(told: RankedChunk, weights: Mapping[Signal, float]) -> tuple[str, ...]:
    """Return why a passage is worth packing: the way to it, and its two strongest signals."""
    reasons = [f"reached by way of {', '.join(told.via)}"] if told.via else []
    parts = sorted(told.signals.items(), key=lambda pair: (-pair[1] * weights.get(pair[0], 0.0), pair[0].value))
    reasons += [f"{_TOLD_SIGNALS[signal]} ({signal.value} {value:.2f})" for signal, value in parts[:2] if value > 0.0]
    return tuple(reasons)
