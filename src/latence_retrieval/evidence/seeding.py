"""The first stage, composed: the caller's hits, or the snapshot's own BM25 where there are none, as seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from latence_retrieval.lexical.bm25 import Bm25
from latence_retrieval.lexical.postings import KeyValuePostings, PostingList
from latence_retrieval.lexical.terms import Analyser, analyser_named
from latence_retrieval.order import heaviest_first
from latence_retrieval.ports.key_value import Key, KeyValueReader, Table
from latence_retrieval.query_view import QueryView
from latence_retrieval.settings import Settings, WalkSettings
from latence_retrieval.sidecar.read import Sidecar

__all__ = ["FirstStage", "Lexical", "take_first_stage"]

_MAX_QUERY_TERMS = 64
_MAX_POSTINGS = 4_096  # bound: postings that are read to find candidates (adr/0046)


class _QueryPostings(KeyValuePostings):
    """Posting lists of one query: each head and each block is read once, however often candidates are scored."""

    def __init__(self, sidecar: Sidecar) -> None:
        super().__init__(_Remembering(sidecar.reader), path=sidecar.path)
        self._heads: dict[str, PostingList | None] = {}

    def lists(self, terms: Sequence[str]) -> list[PostingList | None]:
        missing = [term for term in terms if term not in self._heads]
        if missing:
            self._heads.update(zip(missing, super().lists(missing), strict=True))
        return [self._heads[term] for term in terms]


class _Remembering:
    """Answers from memory what was read before; `Table.TERM` alone is asked for."""

    def __init__(self, reader: KeyValueReader) -> None:
        self._reader = reader
        self._known: dict[Key, bytes | None] = {}
        self.scan, self.close = reader.scan, reader.close

    def get(self, table: Table, key: Key) -> bytes | None:
        return self.get_many(table, [key])[0]

    def get_many(self, table: Table, keys: Sequence[Key]) -> list[bytes | None]:
        known = self._known
        missing = [key for key in keys if key not in known]
        if missing:
            known.update(zip(missing, self._reader.get_many(table, missing), strict=True))
        return [known[key] for key in keys]


class Lexical:
    """BM25 over the snapshot, for one query."""

    def __init__(self, sidecar: Sidecar, query: str) -> None:
        self._sidecar = sidecar
        self._query = query

    @cached_property
    def _index(self) -> tuple[Bm25, list[str], dict[str, int]]:
        """The query's posting lists, its terms, and how many chunks have each; read when first asked for."""
        postings = _QueryPostings(self._sidecar)
        analyser = analyser_named(postings.stats.analyser) or Analyser("plain-1")
        terms = analyser.terms(self._query)[:_MAX_QUERY_TERMS]
        heads = postings.lists(list(dict.fromkeys(terms)))
        return Bm25(postings), terms, {head.term: head.document_frequency for head in heads if head is not None}

    def best(self, k: int) -> dict[int, float]:
        """Return the best chunks with their scores, best first: exact over the rarest terms within the work limit."""
        if k == 0:
            return {}
        bm25, terms, frequencies = self._index
        left = _MAX_POSTINGS
        rare: set[str] = set()
        for term, frequency in sorted(frequencies.items(), key=lambda pair: (pair[1], pair[0])):
            if frequency > left and rare:
                break
            left -= frequency
            rare.add(term)
        found = bm25.top([term for term in terms if term in rare], k)
        chunks = [chunk for chunk, _ in found]
        scores = dict(zip(chunks, self.scores(chunks), strict=True))
        return {chunk: scores[chunk] for chunk in heaviest_first(scores)}

    def scores(self, chunks: Sequence[int]) -> list[float]:
        """Return the exact score of each chunk."""
        bm25, terms, _ = self._index
        return bm25.scores(terms, chunks)


@dataclass(slots=True)
class FirstStage:
    """Hits of this snapshot by number, best first; ids that it does not have; and what starts the walk.

    Attributes:
        scores: the caller's score by chunk, relative to the best, in [0, 1]; by rank where there are no scores.
        is_own: whether BM25 stood in for the caller.
    """

    ranks: dict[int, int] = field(default_factory=dict)
    scores: dict[int, float] = field(default_factory=dict)
    foreign: list[tuple[str, float]] = field(default_factory=list)
    mass: dict[int, float] = field(default_factory=dict)
    is_own: bool = False


def take_first_stage(
    view: QueryView,
    hits: Sequence[tuple[str, float | None]],
    lexical_best: Mapping[int, float],
    *,
    share: float,
    settings: Settings,
) -> FirstStage:
    """Place the hits in the snapshot and give the best of them the first stage's part of the mass.

    Args:
        view: the reads of this query.
        hits: the caller's, checked.
        lexical_best: what BM25 finds, best first.
        share: how much of the walk's mass the first stage takes.
        settings: to how many hits it goes.
    """
    stage = FirstStage()
    numbers = view.sidecar.chunk_numbers([identifier for identifier, _ in hits])
    relative = _relative([score for _, score in hits])
    for rank, ((identifier, _), number, score) in enumerate(zip(hits, numbers, relative, strict=True), start=1):
        if number is None:
            stage.foreign.append((identifier, score))
        else:
            stage.ranks[number] = rank
            stage.scores[number] = score
    stage.is_own = not stage.scores
    own = list(lexical_best)[: settings.walk.first_stage_seeds]
    own_values = _relative([lexical_best[seed] for seed in own])
    theirs = list(stage.scores)[: settings.walk.first_stage_seeds]
    their_values = view.similarity(theirs) if view.has_similarity else [stage.scores[seed] for seed in theirs]
    part = settings.walk.lexical_seed_share
    lists = [(theirs, their_values, 1.0 - part), (own, own_values, part)]
    stage.mass = _seed_mass(
        [group for group in lists if group[0] and group[2] > 0.0],
        share,
        settings.walk,
    )
    return stage


def _seed_mass(
    groups: Sequence[tuple[Sequence[int], Sequence[float], float]], share: float, settings: WalkSettings
) -> dict[int, float]:
    """Divide the first stage's mass among the groups' hits, by the softmax of their values."""
    mass: dict[int, float] = {}
    whole = sum(part for _, _, part in groups)
    if share <= 0.0:
        return mass
    for seeds, values, part in groups:
        best = max(values)
        odds = [math.exp(settings.first_stage_sharpness * (value - best)) for value in values]
        total = sum(odds)
        for seed, odd in zip(seeds, odds, strict=True):
            mass[seed] = mass.get(seed, 0.0) + share * part / whole * odd / total
    return mass


def _relative(scores: Sequence[float | None]) -> list[float]:
    """Return scores between 0 and 1: divided by the best where all are at least 0, else spread from worst to best.

    Without scores the rank speaks: 1, 1/2, 1/3, and so on.
    """
    if not scores:
        return []
    known = [score for score in scores if score is not None]
    if len(known) < len(scores):
        return [1.0 / rank for rank in range(1, len(scores) + 1)]
    best, worst = max(known), min(known)
    if worst >= 0.0:
        return [score / best if best > 0.0 else 0.0 for score in known]
    return [(score - worst) / (best - worst) if best > worst else 1.0 for score in known]
