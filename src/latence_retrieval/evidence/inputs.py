"""Check a call's arguments before any work is done."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from latence_retrieval.arguments import checked_count, floats, writable
from latence_retrieval.errors import DimensionMismatchError, InvalidInputError
from latence_retrieval.ports.entity_index import EntityIndex
from latence_retrieval.ports.entry_tier import EntryTier
from latence_retrieval.sidecar.manifest import check_identity
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.vectors import checked_embedding, normalised

__all__ = [
    "FirstStageHit",
    "Question",
    "Tier",
    "check_parts",
    "check_snapshot",
    "checked_counts",
    "checked_first_stage",
    "checked_tiers",
    "read_query",
    "unit_embedding",
]

FirstStageHit = str | tuple[str, float]
"""A chunk id of the caller's own search, best first, with its score where it has one."""

Tier = str | int | EntryTier
"""A tier by name ("ann", "alias") or number (0, 1), or an object that implements `EntryTier`."""

_BUILT_IN = {"ann": "ann", "alias": "alias", 0: "ann", 1: "alias"}


class Question(NamedTuple):
    """The query as it is given back, the part of it that is read, and what had to be done for that."""

    asked: str
    read: str
    notes: tuple[str, ...]


def read_query(query: str, *, max_chars: int) -> Question:
    """Return the query in characters that can be written, and no more of it than may be read.

    A lone surrogate, which no encoding can write, becomes U+FFFD, so that offsets stay.
    """
    asked = writable(query)
    notes = [] if asked == query else ["the query holds lone surrogates; they were read as U+FFFD"]
    if len(asked) > max_chars:
        notes.append(f"only the first {max_chars} characters of the query were read")
    return Question(asked, asked[:max_chars], tuple(notes))


def checked_counts(*, k: int, budget_tokens: int) -> None:
    """Refuse counts that are negative or no integers."""
    checked_count("k", k)
    checked_count("budget_tokens", budget_tokens)


def checked_first_stage(hits: Sequence[FirstStageHit]) -> list[tuple[str, float | None]]:
    """Return (chunk id, score or None), each id once, at its best rank.

    Raises:
        InvalidInputError: an item of another shape, or a score that is no finite number.
    """
    if isinstance(hits, (str, bytes, Mapping, AbstractSet)) or not isinstance(hits, Iterable):
        raise InvalidInputError(
            "first_stage",
            f"is {hits!r}",
            fix="give a sequence of chunk ids, or of pairs of chunk id and score, best first",
        )
    found: dict[str, float | None] = {}
    score: float | None
    for rank, hit in enumerate(hits, start=1):
        if type(hit) is tuple and len(hit) == 2 and type(hit[0]) is str and type(hit[1]) is float:
            identifier, score = hit  # the most frequent, told apart in a fifth of the time
        else:
            identifier, score = (hit, None) if isinstance(hit, str) else _pair(hit, rank)
        if score is not None and not math.isfinite(score):
            raise InvalidInputError(
                "first_stage", f"hit {rank} has score {score}", fix="give finite scores, or ids alone"
            )
        if not identifier:
            raise InvalidInputError("first_stage", f"hit {rank} has an empty id", fix="give the ids of chunks")
        found.setdefault(identifier if identifier.isascii() else writable(identifier), score)
    return list(found.items())


def checked_tiers(tiers: Sequence[Tier]) -> list[str | EntryTier]:
    """Return the tiers with the built-in ones by name.

    Raises:
        InvalidInputError: a name or number that is no built-in tier, a tier that is given twice, or one without a
            name of its own.
    """
    if isinstance(tiers, (str, bytes, int, Mapping, AbstractSet)) or not isinstance(tiers, Iterable):
        raise InvalidInputError("tiers", f"is {tiers!r}", fix="give a sequence of tiers, such as ('ann', 'alias')")
    chosen: list[str | EntryTier] = []
    for tier in tiers:
        if isinstance(tier, (str, int)):
            if isinstance(tier, bool) or tier not in _BUILT_IN:
                raise InvalidInputError(
                    "tiers",
                    f"{tier!r} is no built-in tier",
                    fix="use 'ann' (0), 'alias' (1), or pass a tier object such as "
                    "latence_retrieval.plugins.create('entry.gliner2', model=...)",
                )
            chosen.append(_BUILT_IN[tier])
        elif isinstance(tier, EntryTier):
            if not isinstance(tier.name, str) or tier.name in ("", *_BUILT_IN):
                raise InvalidInputError(
                    "tiers", f"a tier is named {tier.name!r}", fix="name it by a text that no built-in tier has"
                )
            chosen.append(tier)
        else:
            raise InvalidInputError("tiers", f"{tier!r} does not implement EntryTier", fix="give it `name` and `enter`")
    names = [tier if isinstance(tier, str) else tier.name for tier in chosen]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError("tiers", f"{name!r} is given {names.count(name)} times", fix="give each tier once")
    return chosen


def check_parts(entity_index: object, relation_signal: object, count_tokens: object) -> None:
    """Refuse parts of the caller's that lack what will be asked of them.

    Raises:
        InvalidInputError: naming the argument and what it lacks.
    """
    if not callable(count_tokens):
        raise InvalidInputError("count_tokens", f"is {count_tokens!r}", fix="give a function from text to its tokens")
    if entity_index is not None and not (
        type(getattr(entity_index, "dimension", None)) is int and callable(getattr(entity_index, "nearest", None))
    ):
        raise InvalidInputError(
            "entity_index", f"{entity_index!r} is no EntityIndex", fix="give it `dimension`, an integer, and `nearest`"
        )
    if relation_signal is not None and not (
        isinstance(getattr(relation_signal, "name", None), str)
        and callable(getattr(relation_signal, "relation_scores", None))
    ):
        raise InvalidInputError(
            "relation_signal",
            f"{relation_signal!r} is no RelationSignal",
            fix="give it `name`, a text, and `relation_scores`",
        )


def check_snapshot(sidecar: Sidecar, *, tenant: str | None, embedding_model: str | None) -> None:
    """Refuse an opened snapshot of another tenant or embedding model, and one that was closed.

    Raises:
        SidecarMismatchError: naming both values.
        InvalidInputError: it is closed.
    """
    if sidecar.is_closed:
        raise InvalidInputError("sidecar", f"{sidecar.path} is closed", fix="open it again, or pass its path")
    check_identity(sidecar.path, sidecar.manifest, tenant=tenant, embedding_model=embedding_model)


def unit_embedding(
    embedding: Sequence[float] | None, sidecar: Sidecar, entity_index: EntityIndex | None
) -> list[float] | None:
    """Return the query embedding at unit length; None where there is none, or it is all zeros.

    Raises:
        InvalidInputError: NaN or infinity.
        DimensionMismatchError: another dimension than the snapshot's vectors, or than the caller's index.
    """
    if embedding is None:
        return None
    checked = checked_embedding(embedding, sidecar.manifest.dimension, "embedding")
    if entity_index is not None and entity_index.dimension != len(checked):
        raise DimensionMismatchError(
            "entity_index",
            expected=len(checked),
            actual=entity_index.dimension,
            fix="give an index over vectors of the model that embeds the query",
        )
    unit = list(normalised(checked))
    return unit if any(unit) else None


def _pair(hit: object, rank: int) -> tuple[str, float]:
    if isinstance(hit, (tuple, list)) and len(hit) == 2 and isinstance(hit[0], str):
        try:
            return hit[0], floats([hit[1]])[0]
        except (TypeError, ValueError, OverflowError):
            pass
    raise InvalidInputError(
        "first_stage", f"hit {rank} is {hit!r}", fix="give chunk ids, or pairs of chunk id and score, best first"
    )
