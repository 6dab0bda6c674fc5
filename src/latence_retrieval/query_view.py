"""One query's view of a snapshot: every read and every dot product once, counted and bounded."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, cast

from latence_retrieval.results import Work
from latence_retrieval.settings import WalkSettings
from latence_retrieval.sidecar.codec import ANY_SENTENCE, LOG_DEGREE_DAMPING, ChunkLinks, IncidenceBlock
from latence_retrieval.sidecar.read import Sidecar

__all__ = ["Held", "Member", "OpenTerms", "QueryView", "QuestionTerms"]


class Member(NamedTuple):
    """An entity of a chunk: its weight in the walk, the sentences that name it, and whether it is a discovered phrase."""

    entity: int
    weight: float
    mask: int
    is_discovered: bool


_member = cast("Callable[[tuple[int, float, int, bool]], Member]", partial(tuple.__new__, Member))  # thrice as quick

Held = list[tuple[float, int]]
"""The terms that a chunk holds, each by its weight and the mask of the sentences that hold it."""


class OpenTerms:
    """Some of the question's terms, with the sentences that hold them."""

    def __init__(self, rows: Sequence[tuple[float, Mapping[int, int]]]) -> None:
        self._rows = rows
        self._total = sum(weight for weight, _ in rows)

    def held(self, chunks: Iterable[int]) -> dict[int, Held]:
        """Return which of the terms each of `chunks` holds; those that hold none are left out."""
        found: dict[int, Held] = {}
        if self._rows:
            wanted = set(chunks)
            for weight, row in self._rows:
                for chunk in row.keys() & wanted:
                    here = (weight, row[chunk])
                    if chunk in found:
                        found[chunk].append(here)
                    else:
                        found[chunk] = [here]
        return found

    def overlap(self, held: Held, mask: int) -> float:
        """Return the part in [0, 1] of the terms, by idf, that one of the masked sentences holds.

        The best single sentence counts; with `ANY_SENTENCE`, all of the chunk together.
        """
        if mask == ANY_SENTENCE:
            return sum([weight for weight, _ in held]) / self._total
        if len(held) == 1:
            weight, sentences = held[0]
            return weight / self._total if sentences & mask else 0.0
        best = 0.0
        while mask:
            bit = mask & -mask
            mask ^= bit
            best = max(best, sum([weight for weight, sentences in held if sentences & bit]))
        return best / self._total


class QuestionTerms(OpenTerms):
    """The question's content terms: how rare each is, and which sentences hold it.

    As `OpenTerms` it stands for those that belong to no anchor's name. Terms that the corpus does not have, or that
    too many chunks have to tell anything, are left out.

    Attributes:
        weights: idf by term, the explained ones too.
    """

    def __init__(
        self,
        terms: Sequence[str],
        rows: Sequence[Mapping[int, int] | None],
        *,
        chunks: int,
        explained: Iterable[str],
    ) -> None:
        self._by_term = {term: row for term, row in zip(terms, rows, strict=True) if row is not None}
        self.weights = {
            term: math.log1p((chunks - len(row) + 0.5) / (len(row) + 0.5)) for term, row in self._by_term.items()
        }
        named = set(explained)
        super().__init__([(self.weights[term], row) for term, row in self._by_term.items() if term not in named])

    def held_by(self, chunk: int) -> list[str]:
        """Return the terms that a chunk holds, explained or not."""
        return [term for term, row in self._by_term.items() if chunk in row]

    def held_weight(self, chunks: set[int]) -> dict[int, float]:
        """Return the summed idf of the terms, explained or not, that each chunk holds; chunks without any are left out."""
        found: dict[int, float] = {}
        for term, row in self._by_term.items():
            for chunk in row.keys() & chunks:
                found[chunk] = found.get(chunk, 0.0) + self.weights[term]
        return found

    def left_by(self, chunk: int) -> OpenTerms:
        """Return the terms that a chunk leaves open."""
        return OpenTerms([(self.weights[term], row) for term, row in self._by_term.items() if chunk not in row])


class QueryView:
    """Cached reads of one call, and the query's cosines with chunks.

    Attributes:
        embedding: the caller's unit query embedding; None where there is none.
        has_similarity: whether cosines with chunks exist at all for this call.
    """

    def __init__(
        self,
        sidecar: Sidecar,
        *,
        embedding: Sequence[float] | None,
        settings: WalkSettings,
    ) -> None:
        self.sidecar = sidecar
        self.embedding = embedding
        vectors = sidecar.chunk_vectors if embedding is not None else None
        self._chunk_vectors = vectors
        self.has_similarity = vectors is not None
        self._settings = settings
        self._similarity: dict[int, float] = {}
        self._incidence: dict[int, IncidenceBlock | None] = {}
        self._members: dict[int, list[Member]] = {}
        self._anchors: frozenset[int] = frozenset()
        self.terms = QuestionTerms((), (), chunks=1, explained=())
        self.lookups = 0
        self.dot_products = 0
        self.edges = 0

    def incidences(self, entities: Sequence[int], *, max_degree: int | None = None) -> list[IncidenceBlock | None]:
        """Return the hyperedges of each entity that are followed, None for those without any or with too many.

        Of an entity's first block all but the mentions, and of those the chunks that hold most of the question's terms,
        up to the limit.
        """
        missing = [entity for entity in dict.fromkeys(entities) if entity not in self._incidence]
        if missing:
            blocks = self.sidecar.incidences(missing, max_degree=max_degree)
            self._incidence.update(zip(missing, self._trimmed(blocks), strict=True))
        return [self._incidence[entity] for entity in entities]

    def _trimmed(self, blocks: Sequence[IncidenceBlock | None]) -> list[IncidenceBlock | None]:
        limit = self._settings.max_mentions
        crowded = [
            at for at, block in enumerate(blocks) if block is not None and len(block.chunks) - block.facts_to > limit
        ]
        trimmed = list(blocks)
        if crowded:
            held = self.terms.held_weight({chunk for at in crowded if (block := blocks[at]) for chunk in block.chunks})
            for at in crowded:
                block = blocks[at]
                trimmed[at] = None if block is None else _best_mentions(block, held, limit)
        return trimmed

    def begin(self, terms: QuestionTerms, anchors: Iterable[int]) -> None:
        """Say what the entry found: the terms that it leaves open, and the entities that take no mass back."""
        self.terms = terms
        self._anchors = frozenset(anchors)
        self._incidence.clear()  # what was read before the terms were known is cut to other mentions

    def members(self, chunks: Sequence[int]) -> list[list[Member]]:
        """Return each chunk's entities with their weights, subjects first, anchors left out.

        The weight is 1 / ln(2 + the entity's chunks), times the factor for discovered phrases, times
        exp(sharpness × overlap of the sentences that name it with the open terms).
        """
        missing = [chunk for chunk in chunks if chunk not in self._members]
        if missing:
            for chunk, links in zip(missing, self.sidecar.links(missing), strict=True):
                self._members[chunk] = [] if links is None else self._weighed(chunk, links)
        return [self._members[chunk] for chunk in chunks]

    def _weighed(self, chunk: int, links: ChunkLinks) -> list[Member]:
        settings = self._settings
        held = self.terms.held((chunk,)).get(chunk)
        weighed = []
        columns = zip(links.entities, links.masks, links.log_degrees, strict=True)
        for place, (packed, mask, log_degree) in enumerate(columns):
            entity = packed >> 1
            if entity in self._anchors:
                continue
            weight = LOG_DEGREE_DAMPING[log_degree]
            is_discovered = bool(packed & 1)
            if is_discovered:
                weight *= settings.discovered_weight
            if held and place >= links.subjects:
                part = self.terms.overlap(held, mask)
                if part:
                    weight *= math.exp(settings.overlap_sharpness * part)
            weighed.append(_member((entity, weight, mask, is_discovered)))
        return weighed

    def similarity(self, chunks: Sequence[int]) -> list[float]:
        """Return the cosine of the query with each chunk; 0.0 without vectors."""
        known = self._similarity
        if self._chunk_vectors is not None and self.embedding is not None:
            missing = [chunk for chunk in dict.fromkeys(chunks) if chunk not in known]
            if missing:
                known.update(zip(missing, self._chunk_vectors.dots(self.embedding, missing), strict=True))
                self.dot_products += len(missing)
        return [known.get(chunk, 0.0) for chunk in chunks]

    def chunk_dots(self, vector: Sequence[float], chunks: Sequence[int]) -> list[float]:
        """Return dot products of another vector with chunks; the caller bounds how many."""
        if self._chunk_vectors is None:
            return [0.0] * len(chunks)
        self.dot_products += len(chunks)
        return self._chunk_vectors.dots(vector, chunks)

    def entity_vectors(self, entities: Sequence[int]) -> list[Sequence[float] | None]:
        """Return the unit vectors of entities, None for those without one."""
        vectors = self.sidecar.entity_vectors
        if vectors is None:
            return [None] * len(entities)
        rows = [vectors.row(entity) for entity in entities]
        return [row if any(row) else None for row in rows]

    def work(self, *, pushes: int, residual: float) -> Work:
        """Return the counters so far."""
        return Work(
            lookups=self.lookups,
            entity_reads=len(self._incidence),
            chunk_reads=len(self._members),
            pushes=pushes,
            edges=self.edges,
            dot_products=self.dot_products,
            residual=residual,
        )


def _best_mentions(block: IncidenceBlock, relevance: Mapping[int, float], limit: int) -> IncidenceBlock:
    """Return a block with its best mentions alone, by ascending chunk where equal, all else kept, in the order that it had."""
    chunks = block.chunks
    first = block.facts_to
    mentions = chunks[first:]
    relevant = [chunk for chunk in mentions if chunk in relevance] if relevance else []
    if not relevant:  # those of a block stand by ascending chunk
        stop = first + limit
        return block._replace(
            marks=block.marks[:stop],
            chunks=chunks[:stop],
            labels=block.labels[:stop],
            confidences=block.confidences[:stop],
            dots=block.dots[:stop],
            ends=block.ends[:stop],
        )
    best = sorted(range(len(mentions)), key=lambda at: -relevance.get(mentions[at], 0.0))[:limit]
    kept = [*range(first), *[first + at for at in sorted(best)]]

    def of(column: Sequence[int]) -> list[int]:
        return list(map(column.__getitem__, kept))

    return block._replace(
        marks=of(block.marks),
        chunks=of(chunks),
        labels=of(block.labels),
        confidences=of(block.confidences),
        dots=of(block.dots),
        ends=of(block.ends),
    )
