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
from typing import NamedTuple

from latence_retrieval.build.link import MIN_LINK_PROBABILITY, link_probability
from latence_retrieval.build.lists import SpilledRows
from latence_retrieval.build.progress import Progress
from latence_retrieval.build.scratch import Scratch
from latence_retrieval.records import Chunk
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
_WORD_BYTES = 4
_ABOUT, _FACT, _MENTION = int(EdgeKind.ABOUT), int(EdgeKind.FACT), int(EdgeKind.MENTION)

Similarity = Callable[[int, int], float | None]
"""(chunk, entity) -> cosine of the chunk with the entity's context; None where a vector is absent."""

PairDots = Callable[[Sequence[int], Sequence[int]], list[float | None]]
"""(entities, chunks) -> dot product of each pair's vectors; None where one is absent."""


class _ChunkFacts(NamedTuple):
    number: int
    relation: int
    confidence: int
    members: array[int]


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
        scratch.run("CREATE TABLE settled (chunk INTEGER, mask INTEGER, entity INTEGER)")
        scratch.run("CREATE INDEX fact_by_chunk ON fact (chunk, n)")

    @property
    def chunk_counts(self) -> Sequence[int]:
        """In how many chunks each entity occurs."""
        return self._chunk_counts

    def collect(self, progress: Progress) -> None:
        """Settle every mention and lay every hyperedge down with its entities."""
        mentions = groupby(
            self._scratch.rows("SELECT chunk, sentence, form, is_weak FROM mention ORDER BY rowid"),
            key=lambda row: row[0],
        )
        facts = groupby(
            self._scratch.rows("SELECT chunk, n, relation, confidence, members FROM fact ORDER BY chunk, n"),
            key=lambda row: row[0],
        )
        abouts = groupby(
            self._scratch.rows("SELECT chunk, entity FROM about ORDER BY chunk, place"), key=lambda row: row[0]
        )
        next_mentions = next(mentions, None)
        next_facts = next(facts, None)
        next_about = next(abouts, None)
        with progress.stage("graph") as tick:
            for number, body in self._scratch.rows("SELECT n, json FROM chunk ORDER BY n"):
                about: list[int] = []
                if next_about is not None and next_about[0] == number:
                    about = [row[1] for row in next_about[1]]
                    next_about = next(abouts, None)
                found: list[tuple[int, int]] = []
                if next_mentions is not None and next_mentions[0] == number:
                    for _, sentence, form, is_weak in next_mentions[1]:
                        mask = sentence_mask(sentence)
                        found += [(mask, entity) for entity in self._settle(number, form, bool(is_weak), about)]
                    next_mentions = next(mentions, None)
                stated: list[_ChunkFacts] = []
                if next_facts is not None and next_facts[0] == number:
                    for _, fact, relation, confidence, members in next_facts[1]:
                        stated.append(_ChunkFacts(fact, relation, confidence, array("I", members)))
                    next_facts = next(facts, None)
                if '"mentions"' in body:
                    for identifier in Chunk.model_validate_json(body).mentions:
                        entity = self._scratch.number("entity", identifier)
                        if entity is not None:
                            found.append((ANY_SENTENCE, entity))
                self._add_chunk(number, about, found, stated)
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
                dots = array("I", bytes(_WORD_BYTES * len(rows)))
                if pair_dots is not None:
                    dots = array("I", map(packed_dot, pair_dots([number] * len(chunks), chunks)))
                columns = [heads[3::5], chunks, heads[4::5], confidences, dots, ends]
                encoded = encode_incidence(degree, columns, members, log_degrees, self._discovered)
                yield incidence_key(number, blocks), encoded
                blocks += 1

    def links_rows(self) -> Iterator[tuple[int, bytes]]:
        """Yield the rows of `Table.CHUNK_LINKS` in key order."""
        log_degrees = self._log_degrees()
        abouts = groupby(
            self._scratch.rows("SELECT chunk, entity FROM about ORDER BY chunk, place"), key=lambda row: row[0]
        )
        next_about = next(abouts, None)
        settled = groupby(
            self._scratch.rows("SELECT chunk, mask, entity FROM settled ORDER BY rowid"), key=lambda row: row[0]
        )
        next_settled = next(settled, None)
        while next_about is not None or next_settled is not None:
            number = min(item[0] for item in (next_about, next_settled) if item is not None)
            about: list[int] = []
            mentions: dict[int, int] = {}
            if next_about is not None and next_about[0] == number:
                about = [row[1] for row in next_about[1]]
                next_about = next(abouts, None)
            if next_settled is not None and next_settled[0] == number:
                mentions = {row[2]: row[1] for row in next_settled[1]}
                next_settled = next(settled, None)
            yield number, encode_links(about, mentions, log_degrees, self._discovered)

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
        self, chunk: int, about: Sequence[int], found: Sequence[tuple[int, int]], facts: Sequence[_ChunkFacts]
    ) -> None:
        """Lay one chunk's hyperedges down with their entities, and count what it holds."""
        mentions: dict[int, int] = {}
        for mask, entity in found:
            if entity not in about:
                mentions[entity] = mentions.get(entity, 0) | mask
        own = _EDGE.pack(_ABOUT, 0, chunk, 0, _ABOUT)
        rows = [(subject, own) for subject in about]
        rows += [(entity, _EDGE.pack(_MENTION, 0, chunk, mask, _MENTION)) for entity, mask in mentions.items()]
        for fact in facts:
            for entity in fact.members:
                if entity not in about:
                    mentions.setdefault(entity, ANY_SENTENCE)
            edge = _EDGE.pack(_FACT, MILLION - fact.confidence, chunk, fact.number, fact.relation << 2 | _FACT)
            members = list(dict.fromkeys(fact.members))
            for entity in members:
                others = [other.to_bytes(_WORD_BYTES, "big") for other in members if other != entity]
                rows.append((entity, edge + b"".join(others[:MAX_MEMBERS])))
        for entity, _ in rows:
            self._edge_counts[entity] += 1
        self._edges.add(rows)
        for entity, mask in mentions.items():
            self._scratch.later("settled", (chunk, mask, entity))
        for entity in (*about, *mentions):
            self._chunk_counts[entity] += 1
        self.mentions += len(mentions)
        self.hyperedges += bool(about or mentions) + len(facts)


def _words(parts: Sequence[bytes]) -> array[int]:
    words = array("I", b"".join(parts))
    if sys.byteorder == "little":
        words.byteswap()
    return words
