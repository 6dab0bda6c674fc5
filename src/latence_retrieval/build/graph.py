"""Settle the mentions and lay out the hypergraph: who is in which chunk, and which hyperedges each entity has.

A chunk's mentions are one hyperedge, seen as ABOUT by its subjects and as MENTION by the entities that its sentences
name; the members stand with the chunk, each with the sentences that name it. A fact ties its members (kind FACT). They
are members of the witnessing chunk's hyperedge too, and reach it by the fact: a MENTION beside it would say no more.
"""

from __future__ import annotations

import struct
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, groupby, islice
from operator import itemgetter
from typing import Any

from latence_retrieval.build.link import MIN_LINK_PROBABILITY, link_probability
from latence_retrieval.build.lists import SpilledRows
from latence_retrieval.build.progress import Progress
from latence_retrieval.build.scratch import Scratch
from latence_retrieval.sidecar.codec import (
    ANY_SENTENCE,
    EDGES_PER_BLOCK,
    MILLION,
    EdgeKind,
    encode_incidence,
    encode_links,
    incidence_key,
    log_degree,
    packed_dot,
    sentence_mask,
)

__all__ = ["MAX_MEMBERS", "Graph", "PairDots", "Similarity"]

MAX_MEMBERS = 64
"""Other members inlined with one fact: past that the first 64 stand."""

_MAX_UNSETTLED = 3  # homonyms that vectors cannot tell apart are all linked up to this many, else none
_EDGE = struct.Struct(">5I")  # kind, a million less the confidence, chunk, mark: the order; then label; members follow
_PAIR = struct.Struct(">2I")
_WORD_BYTES = 4
_ABOUT, _FACT, _MENTION = int(EdgeKind.ABOUT), int(EdgeKind.FACT), int(EdgeKind.MENTION)

Similarity = Callable[[int, int], float | None]
"""(chunk, entity) -> cosine of the chunk with the entity's context; None where a vector is absent."""

PairDots = Callable[[Sequence[int], Sequence[int]], list[float | None]]
"""(entities, chunks) -> dot product of each pair's vectors; None where one is absent."""


_FactRow = tuple[int, int, int, int, bytes]
"""Chunk, number, relation, confidence in millionths, and members, of which each is a big-endian word."""


class Graph:
    """Collects hyperedges chunk by chunk; afterwards writes the rows of two tables."""

    def __init__(self, scratch: Scratch, edges: SpilledRows, similarity: Similarity | None) -> None:
        count = scratch.count("entity")
        self._scratch = scratch
        self._edges = edges
        self._similarity = similarity
        self._chunk_counts = array("I", bytes(4 * count))
        self._edge_counts = array("I", bytes(4 * count))
        self._discovered = bytearray(count)
        for (number,) in scratch.rows("SELECT n FROM entity WHERE json_extract(json, '$.discovered')"):
            self._discovered[number] = 1
        self.mentions = 0
        self.hyperedges = 0
        scratch.run("CREATE INDEX fact_by_chunk ON fact (chunk, n)")

    @property
    def chunk_counts(self) -> Sequence[int]:
        """In how many chunks each entity occurs."""
        return self._chunk_counts

    def collect(self, progress: Progress) -> None:
        """Settle every mention and lay every hyperedge down with its entities."""
        rows = self._scratch.rows
        mentions = _ByChunk(rows("SELECT chunk, sentence, form, is_weak FROM mention ORDER BY rowid"))
        stated = _ByChunk(rows("SELECT chunk, entity FROM stated ORDER BY rowid"))
        facts = _ByChunk(rows("SELECT chunk, n, relation, confidence, members FROM fact ORDER BY chunk, n"))
        abouts = _ByChunk(rows("SELECT chunk, entity FROM about ORDER BY chunk, place"))
        with progress.stage("graph") as tick:
            for number in range(self._scratch.count("chunk")):
                about = [entity for _, entity in abouts.take(number)]
                found = [
                    (sentence_mask(sentence), entity)
                    for _, sentence, form, is_weak in mentions.take(number)
                    for entity in self._settle(number, form, bool(is_weak), about)
                ]
                found += [(ANY_SENTENCE, entity) for _, entity in stated.take(number)]
                self._add_chunk(number, about, found, facts.take(number))
                tick()

    def incidence_rows(self, pair_dots: PairDots | None) -> Iterator[tuple[bytes, bytes]]:
        """Yield the rows of `Table.INCIDENCE` in key order."""
        log_degrees = self._log_degrees()
        size = _EDGE.size
        for number, stream in self._edges:
            degree = self._edge_counts[number]
            blocks = 0
            while rows := list(islice(stream, EDGES_PER_BLOCK)):
                heads = _words([row[:size] for row in rows])
                members = _words([row[size:] for row in rows])
                ends = array("I", accumulate([(len(row) - size) // _WORD_BYTES for row in rows]))
                chunks = heads[2::5]
                confidences = [MILLION - left for left in heads[1::5]]
                if pair_dots is None:
                    dots = array("I", bytes(_WORD_BYTES * len(rows)))
                else:
                    dots = array("I", map(packed_dot, pair_dots([number] * len(chunks), chunks)))
                columns = [heads[3::5], chunks, heads[4::5], confidences, dots, ends]
                encoded = encode_incidence(degree, columns, members, log_degrees, self._discovered)
                yield incidence_key(number, blocks), encoded
                blocks += 1

    def links_rows(self) -> Iterator[tuple[int, bytes]]:
        """Yield the rows of `Table.CHUNK_LINKS` in key order."""
        log_degrees = self._log_degrees()
        for number, subjects, blob, masks in self._scratch.rows("SELECT * FROM link ORDER BY chunk"):
            entities = array("I", blob)
            mentions = dict(zip(entities[subjects:], array("I", masks), strict=True))
            yield number, encode_links(entities[:subjects], mentions, log_degrees, self._discovered)

    def _log_degrees(self) -> bytes:
        return bytes(log_degree(count) for count in self._chunk_counts)

    def _settle(self, chunk: int, form: str, is_weak: bool, about: Sequence[int]) -> list[int]:
        """Return the entities that a mention stands for: one, unless homonyms cannot be told apart."""
        candidates, probability = self._candidates(form)
        if is_weak and probability < MIN_LINK_PROBABILITY:
            return []
        if any(entity in about for entity, _ in candidates):
            return []
        if len(candidates) == 1:
            return [candidates[0][0]]
        if self._similarity is not None:
            scored = [(self._similarity(chunk, entity), entity) for entity, _ in candidates]
            known = [(-score, entity) for score, entity in scored if score is not None]
            if known:
                return [min(known)[1]]
        best = max(prior for _, prior in candidates)
        likely = [entity for entity, prior in candidates if prior == best]
        return likely if len(likely) <= _MAX_UNSETTLED else []

    def _candidates(self, form: str) -> tuple[list[tuple[int, float]], float]:
        cache = self._scratch.cache("settle")
        known = cache.get(form)
        if known is None:
            rows = self._scratch.rows(
                "SELECT entity, prior FROM alias WHERE form = ? AND flags & 16 = 0 ORDER BY entity", (form,)
            )
            candidates = [(int(entity), float(prior)) for entity, prior in rows]
            counts = next(
                self._scratch.rows("SELECT all_of_it, as_name FROM occurrence WHERE form = ?", (form,)), (0, 0)
            )
            known = cache[form] = (candidates, link_probability(*counts))
        return known

    def _add_chunk(
        self, chunk: int, about: Sequence[int], found: Sequence[tuple[int, int]], facts: Sequence[_FactRow]
    ) -> None:
        """Lay one chunk's hyperedges down with their entities, and count what it holds."""
        mentions: dict[int, int] = {}
        for mask, entity in found:
            if entity not in about:
                mentions[entity] = mentions.get(entity, 0) | mask
        own = _EDGE.pack(_ABOUT, 0, chunk, 0, _ABOUT)
        rows = [(subject, own) for subject in about]
        rows += [(entity, _EDGE.pack(_MENTION, 0, chunk, mask, _MENTION)) for entity, mask in mentions.items()]
        stated_from = len(rows)
        for _, number, relation, confidence, members in facts:
            rows += _edges_of(_EDGE.pack(_FACT, MILLION - confidence, chunk, number, relation << 2 | _FACT), members)
        for entity in dict.fromkeys([entity for entity, _ in rows[stated_from:]]):
            if entity not in about and entity not in mentions:
                mentions[entity] = ANY_SENTENCE
        counts = self._edge_counts
        for entity, _ in rows:
            counts[entity] += 1
        self._edges.add(rows)
        occurring = [*about, *mentions]
        if occurring:
            entities, masks = array("I", occurring), array("I", mentions.values())
            self._scratch.later("link", ((chunk, len(about), entities.tobytes(), masks.tobytes()),))
        for entity in occurring:
            self._chunk_counts[entity] += 1
        self.mentions += len(mentions)
        self.hyperedges += bool(occurring) + len(facts)


class _ByChunk:
    """Rows in ascending order of the chunk, which they begin with, to be taken chunk by chunk."""

    def __init__(self, rows: Iterator[Any]) -> None:
        self._groups = groupby(rows, key=itemgetter(0))
        self._next: tuple[int, Iterator[Any]] = next(self._groups, _NO_MORE)

    def take(self, chunk: int) -> list[Any]:
        """Return the rows of a chunk; chunks are asked for in ascending order."""
        if chunk != self._next[0]:
            return []
        rows = list(self._next[1])
        self._next = next(self._groups, _NO_MORE)
        return rows


_NO_MORE: tuple[int, Iterator[Any]] = (-1, iter(()))


def _edges_of(edge: bytes, members: bytes) -> list[tuple[int, bytes]]:
    """Return a fact's row for each of its members (packed big-endian words): the edge, then the others."""
    if len(members) == _PAIR.size:
        first, second = _PAIR.unpack(members)
        if first != second:
            return [(first, edge + members[_WORD_BYTES:]), (second, edge + members[:_WORD_BYTES])]
    words = dict.fromkeys(members[at : at + _WORD_BYTES] for at in range(0, len(members), _WORD_BYTES))
    return [
        (int.from_bytes(word, "big"), edge + b"".join([other for other in words if other != word][:MAX_MEMBERS]))
        for word in words
    ]


def _words(parts: Sequence[bytes]) -> array[int]:
    words = array("I", b"".join(parts))
    if sys.byteorder == "little":
        words.byteswap()
    return words
