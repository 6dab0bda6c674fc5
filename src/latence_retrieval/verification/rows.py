"""What must hold in each table: the shape of every row, and that its numbers lead to something."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any, Protocol

from latence_retrieval.ports.key_value import Key, Table
from latence_retrieval.records import Chunk, Entity
from latence_retrieval.sidecar.codec import (
    MILLION,
    AliasFlag,
    EdgeKind,
    decode_alias,
    decode_incidence,
    decode_links,
    decode_term_sentences,
    named_key,
    unpack_numbers,
)
from latence_retrieval.sidecar.manifest import Counts, Manifest
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.sidecar.rows import decode_fact, decode_relation
from latence_retrieval.verification.postings import PostingChecks

__all__ = ["Checks", "checks_of"]

_WRONG_SHAPE = "has another shape"
_ALL_FLAGS = sum(AliasFlag)


class Checks(Protocol):
    """Checks one table, row by row in key order. Both methods return what is wrong, or None."""

    def row(self, key: Any, value: bytes) -> str | None:
        """Check a row; may raise what decoding a damaged one raises."""
        ...

    def end(self) -> str | None:
        """Check that nothing is missing after the last row."""
        ...


def checks_of(table: Table, sidecar: Sidecar) -> Checks:
    """Return the checks of a table, which start anew."""
    manifest = sidecar.manifest
    counts = manifest.counts
    if table is Table.TERM:
        return PostingChecks(manifest)
    if table is Table.INCIDENCE:
        return _Incidence(counts)
    if table is Table.ENTITY_ID:
        return _Ids(counts.entities, lambda numbers: [entity.id for entity in sidecar.entities(numbers)])
    if table is Table.CHUNK_ID:
        return _Ids(counts.chunks, lambda numbers: [chunk.id for chunk in sidecar.chunks(numbers)])
    dense: dict[Table, Callable[[bytes], str | None]] = {
        Table.ENTITY: lambda value: _valid(Entity.model_validate_json(value)),
        Table.CHUNK: lambda value: _valid(Chunk.model_validate_json(value)),
        Table.RELATION: _relation,
        Table.HYPEREDGE: lambda value: _fact(value, counts),
    }
    if table in dense:
        return _Dense(dense[table])
    sparse: dict[Table, Callable[[Any, bytes], str | None]] = {
        Table.ALIAS: lambda _, value: _alias(value, counts),
        Table.ALIAS_HEAD: lambda _, value: _alias_head(value, manifest),
        Table.CHUNK_LINKS: lambda key, value: _links(key, value, counts),
        Table.NAME_KEY: lambda _, value: _ascending(unpack_numbers(value), counts.catalogue_entities, "entity"),
        Table.TERM_SENTENCE: lambda _, value: _term_sentences(value, counts),
    }
    return _Each(sparse[table])


class _Each:
    """Every row for itself."""

    def __init__(self, check: Callable[[Key, bytes], str | None]) -> None:
        self.row = check

    def end(self) -> str | None:
        return None


class _Dense:
    """Rows that are numbered from zero without a gap; how many there are is checked against the manifest."""

    def __init__(self, check: Callable[[bytes], str | None]) -> None:
        self._check = check
        self._next = 0

    def row(self, key: int, value: bytes) -> str | None:
        expected, self._next = self._next, key + 1
        return self._check(value) if key == expected else f"number {expected} is missing"

    def end(self) -> str | None:
        return None


class _Ids:
    """Each id leads to the record that has it."""

    _AT_ONCE = 256

    def __init__(self, count: int, ids: Callable[[Sequence[int]], Sequence[str]]) -> None:
        self._count = count
        self._ids = ids
        self._waiting: list[tuple[int, str]] = []

    def row(self, key: bytes, value: bytes) -> str | None:
        number, identifier = int.from_bytes(value[:4], "little"), value[4:].decode("utf-8", "surrogatepass")
        if named_key(identifier) != key:
            return f"holds the id {identifier!r}, which has another key"
        if number >= self._count:
            return f"leads to number {number} of {self._count}"
        self._waiting.append((number, identifier))
        return self.end() if len(self._waiting) >= self._AT_ONCE else None

    def end(self) -> str | None:
        waiting, self._waiting = self._waiting, []
        found = self._ids([number for number, _ in waiting])
        for (number, identifier), actual in zip(waiting, found, strict=True):
            if actual != identifier:
                return f"id {identifier!r} leads to number {number}, whose id is {actual!r}"
        return None


class _Incidence:
    """The blocks of each entity, in order: as many hyperedges as each block says that there are."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._entity = -1
        self._blocks = 0
        self._left = 0

    def row(self, key: bytes, value: bytes) -> str | None:
        entity, number = int.from_bytes(key[:4], "big"), int.from_bytes(key[4:], "big")
        block = decode_incidence(value)
        if entity != self._entity:
            if self._left:
                return self.end()
            self._entity, self._blocks, self._left = entity, 0, block.degree
        if len(key) != 8 or entity >= self._counts.entities or number != self._blocks:
            return f"is block {number} of entity {entity}, expected {self._blocks} of one below {self._counts.entities}"
        self._blocks += 1
        self._left -= len(block.labels)
        return self._block(block)

    def end(self) -> str | None:
        if self._left == 0:
            return None
        return f"entity {self._entity} has {abs(self._left)} hyperedges {'less' if self._left > 0 else 'more'} than its degree"

    def _block(self, block: Any) -> str | None:
        edges = len(block.labels)
        columns = (block.marks, block.chunks, block.confidences, block.dots, block.ends)
        if not edges or any(len(column) != edges for column in columns):
            return _WRONG_SHAPE
        if block.ends[-1] != len(block.members) or any(start > end for start, end in pairwise(block.ends)):
            return "its hyperedges' members do not end where they should"
        if len(block.log_degrees) != len(block.members):
            return _WRONG_SHAPE
        if max(block.kinds) > max(EdgeKind) or max(block.confidences) > MILLION:
            return "has an unknown kind of hyperedge, or a confidence above one"
        facts = [mark for mark, kind in zip(block.marks, block.kinds, strict=True) if kind == EdgeKind.FACT]
        return (
            _below(block.chunks, self._counts.chunks, "chunk")
            or _below(facts, self._counts.facts, "fact")
            or _below(block.relations, self._counts.relations, "relation")
            or _below((member >> 1 for member in block.members), self._counts.entities, "entity")
        )


def _valid(record: Entity | Chunk) -> str | None:  # noqa: ARG001 - that it could be made is all there is to check
    return None


def _relation(value: bytes) -> str | None:
    label, description = decode_relation(value)
    is_text = isinstance(label, str) and bool(label) and (description is None or isinstance(description, str))
    return None if is_text else _WRONG_SHAPE


def _fact(value: bytes, counts: Counts) -> str | None:
    fact = decode_fact(value)
    texts = [text for text in (fact.id, *fact.roles) if text is not None]
    if len(fact.members) < 2 or len(fact.members) != len(fact.roles) or not all(isinstance(t, str) for t in texts):
        return _WRONG_SHAPE
    if not 0.0 <= fact.confidence <= 1.0:
        return f"has confidence {fact.confidence}"
    return (
        _below([fact.chunk], counts.chunks, "chunk")
        or _below([fact.relation], counts.relations, "relation")
        or _below(fact.members, counts.entities, "entity")
    )


def _alias(value: bytes, counts: Counts) -> str | None:
    form = decode_alias(value)
    candidates = form.candidates
    if not candidates or len(value) != 4 * (3 + 3 * len(candidates)):
        return _WRONG_SHAPE
    if form.link_probability > 1.0 or any(not 0.0 < candidate.prior <= 1.0 for candidate in candidates):
        return "has a probability outside 0 to 1"
    if any(candidate.flags > _ALL_FLAGS for candidate in candidates):
        return "has unknown flags"
    return _ascending([candidate.entity for candidate in candidates], counts.entities, "entity")


def _alias_head(value: bytes, manifest: Manifest) -> str | None:
    (longest,) = unpack_numbers(value)
    if not 1 <= longest <= manifest.longest_alias_tokens:
        return f"says {longest} tokens, the manifest at most {manifest.longest_alias_tokens}"
    return None


def _links(key: int, value: bytes, counts: Counts) -> str | None:
    links = decode_links(value)
    count = len(links.entities)
    if not 0 < count == len(links.masks) == len(links.log_degrees) or links.subjects > count or 0 in links.masks:
        return _WRONG_SHAPE
    if key >= counts.chunks:
        return f"is of chunk {key} of {counts.chunks}"
    return _below((entity >> 1 for entity in links.entities), counts.entities, "entity")


def _term_sentences(value: bytes, counts: Counts) -> str | None:
    masks = decode_term_sentences(value)
    if 8 * len(masks) != len(value) or 0 in masks.values():
        return _WRONG_SHAPE
    return _ascending(list(masks), counts.chunks, "chunk")


def _ascending(numbers: Sequence[int], count: int, kind: str) -> str | None:
    if not numbers or any(left >= right for left, right in pairwise(numbers)):
        return f"its {kind} numbers do not ascend, or there are none"
    return _below(numbers, count, kind)


def _below(numbers: Iterable[int], count: int, kind: str) -> str | None:
    for number in numbers:
        if not 0 <= number < count:
            return f"refers to {kind} {number} of {count}"
    return None
