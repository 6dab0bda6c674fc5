"""From ranked chunks to what is packed: count, choose, number, and say why the rest was dropped."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import NamedTuple, SupportsIndex

from latence_retrieval.errors import InvalidInputError
from latence_retrieval.ports.token_counter import TokenCounter
from latence_retrieval.prompt import SEPARATOR, packed_block, packed_text
from latence_retrieval.records import Chunk
from latence_retrieval.results import Dropped, SelectedChunk, Selection
from latence_retrieval.select.budget import Choice, Item, choose
from latence_retrieval.settings import SelectionSettings

__all__ = ["Candidate", "pack"]


class Candidate(NamedTuple):
    """A ranked passage with its text, its utility, its worth beside those above it, and why it is here."""

    chunk: Chunk
    utility: float
    worth: float
    reasons: tuple[str, ...]


def pack(
    candidates: Sequence[Candidate],
    chains: Sequence[frozenset[int]],
    *,
    budget_tokens: int,
    count: TokenCounter,
    settings: SelectionSettings,
) -> tuple[Selection, list[Dropped]]:
    """Choose among the candidates and pack them in the order of the ranking.

    Args:
        candidates: in the order of the ranking.
        chains: places of the witnesses of each chain, as indexes of `candidates`.
        budget_tokens: for the packed text as a whole.
        count: the caller's counter.
        settings: the objective.

    Raises:
        InvalidInputError: the counter gives something that is no count.
    """
    most = max((candidate.worth for candidate in candidates), default=0.0)
    separator = _counted(count, SEPARATOR)
    items = [
        Item(
            worth=(candidate.worth / most) ** settings.sharpness if most > 0.0 else 0.0,
            tokens=_counted(count, packed_block(place + 1, candidate.chunk)) + separator,
            words=frozenset(candidate.chunk.text.casefold().split()),
        )
        for place, candidate in enumerate(candidates)
    ]

    def packed(places: Sequence[int]) -> str:
        return packed_text([candidates[place].chunk for place in places])

    known: dict[tuple[int, ...], int] = {}

    def total_of(places: Sequence[int]) -> int:
        key = tuple(places)
        if key not in known:
            known[key] = _counted(count, packed(key)) if key else 0
        return known[key]

    def fits(places: Sequence[int]) -> bool:
        return total_of(places) <= budget_tokens

    # A separator stands between passages only, so one more than is needed is counted, and may be spent.
    choice = choose(items, chains, budget_tokens=budget_tokens + separator, fits=fits, settings=settings)
    selected = tuple(
        SelectedChunk(
            citation=citation,
            chunk=candidates[place].chunk,
            utility=candidates[place].utility,
            tokens=items[place].tokens - separator,
            reasons=candidates[place].reasons,
        )
        for citation, place in enumerate(choice.places, start=1)
    )
    selection = Selection(
        chunks=selected,
        tokens=total_of(choice.places),
        budget_tokens=budget_tokens,
        value=choice.value,
        bound=choice.bound,
    )
    return selection, _dropped(candidates, items, choice, [item.tokens - separator for item in items], budget_tokens)


def _dropped(
    candidates: Sequence[Candidate], items: Sequence[Item], choice: Choice, tokens: Sequence[int], budget_tokens: int
) -> list[Dropped]:
    chosen = set(choice.places)
    dropped = []
    for place, (candidate, item) in enumerate(zip(candidates, items, strict=True)):
        if place in chosen:
            continue
        if tokens[place] > budget_tokens:
            reason = "alone above the budget"
        elif any(item.words and len(item.words & items[other].words) >= 0.8 * len(item.words) for other in chosen):
            reason = "repeats a passage that is packed"
        else:
            reason = "other passages are worth more per token"
        dropped.append(Dropped(chunk_id=candidate.chunk.id, reason=reason, tokens=tokens[place]))
    return dropped


def _counted(count: TokenCounter, text: str) -> int:
    counted: object = count(text)
    if type(counted) is int and counted >= 0:  # asking for the protocol takes longer than the default counter
        return counted
    if isinstance(counted, SupportsIndex) and not isinstance(counted, bool):
        tokens = index(counted)
        if tokens >= 0:
            return tokens
    raise InvalidInputError("count_tokens", f"gave {counted!r} for a text", fix="return an integer of at least 0")
