"""Take the facts into the scratch file: validate, number, and check every reference."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from latence_retrieval.arguments import writable
from latence_retrieval.build.inputs import RecordSource, at_line, read_records, validated
from latence_retrieval.build.load import entity_number
from latence_retrieval.build.progress import Progress
from latence_retrieval.build.scratch import Scratch
from latence_retrieval.build.vectors import VectorSink
from latence_retrieval.records import Fact
from latence_retrieval.sidecar.codec import MILLION

__all__ = ["load_facts"]

_PAIR = struct.Struct(">2I")


class _Numbers(NamedTuple):
    """A fact with numbers for names, and its confidence in millionths."""

    relation: int
    chunk: int
    members: Sequence[int]
    confidence: int
    id: str | None = None
    roles: Sequence[str | None] | None = None


def load_facts(scratch: Scratch, source: RecordSource | None, relation_vectors: VectorSink, progress: Progress) -> None:
    """Number the facts in input order; relations that nobody described are numbered as they come.

    Raises:
        RecordError: an invalid line, or a reference to an entity or chunk that does not exist.
    """
    if source is None:
        return
    with progress.stage("facts") as tick:
        for place, fact in enumerate(_Numbering(scratch, source, relation_vectors)):
            relation, chunk, members, confidence, identifier, roles = fact
            packed = _PAIR.pack(*members) if len(members) == 2 else struct.pack(f">{len(members)}I", *members)
            if roles is None:  # the most frequent, thrice as quick
                nothing = ", ".join(["null"] * len(members))
                body = f"[null, {chunk}, {relation}, {confidence}, {members}, [{nothing}]]"
            else:
                body = json.dumps([identifier, chunk, relation, confidence, members, roles])
            scratch.later("fact", ((place, chunk, relation, confidence, packed, body),))
            tick()


class _Numbering:
    """Yields the facts of a source, numbered."""

    def __init__(self, scratch: Scratch, source: RecordSource, relation_vectors: VectorSink) -> None:
        self._scratch = scratch
        self._source = source
        self._relation_vectors = relation_vectors
        self._entities, self._chunks, self._relations = (
            scratch.known(table) for table in ("entity", "chunk", "relation")
        )
        self._relation_count = scratch.count("relation")

    def __iter__(self) -> Iterator[_Numbers]:
        source = self._source
        if isinstance(source, (str, Path)) or not isinstance(source, Iterable):
            for record in read_records(source, Fact, argument="facts"):
                yield self._looked_up(record.record, record.line)
            return
        for line, item in enumerate(source, start=1):
            numbers = self._known(item)
            yield numbers or self._looked_up(validated(item, line, Fact, argument="facts").record, line)

    def _known(self, item: Any) -> _Numbers | None:
        """Return the numbers of a plain fact whose names are remembered, None for any other, which is validated.

        A name that is remembered was validated with its record: most facts of a corpus need no more.
        """
        if type(item) is not dict or "vector" in item or item.get("id") is not None:
            return None
        members, confidence = item.get("members"), item.get("confidence", 1.0)
        if not isinstance(members, (list, tuple)) or len(members) < 2:
            return None
        if type(confidence) is not float or not 0.0 <= confidence <= 1.0:
            return None
        try:
            relation, chunk = self._relations[item["relation"]], self._chunks[item["chunk"]]
            numbers = [self._entities[member] for member in members]
        except (KeyError, TypeError):  # not remembered; or no text, so that it cannot be looked up
            return None
        if relation is None or chunk is None or None in numbers:
            return None
        return _Numbers(relation, chunk, numbers, round(confidence * MILLION))  # type: ignore[arg-type]  # no None

    def _looked_up(self, fact: Fact, line: int) -> _Numbers:
        scratch, source = self._scratch, self._source
        chunk = scratch.number("chunk", fact.chunk)
        if chunk is None:
            raise at_line(source, "facts", line, f"chunk {fact.chunk!r} is in no chunk record")
        relation = self._relation(fact.relation)
        members = [entity_number(scratch, member.entity, source, "facts", line) for member in fact.members]
        confidence = round(fact.confidence * MILLION)
        roles = [member.role for member in fact.members]
        if fact.id is None and roles.count(None) == len(roles):
            return _Numbers(relation, chunk, members, confidence)
        if any(text is not None and writable(text) != text for text in (fact.id, *roles)):
            raise at_line(source, "facts", line, "holds a lone surrogate")
        return _Numbers(relation, chunk, members, confidence, fact.id, roles)

    def _relation(self, label: str) -> int:
        number = self._scratch.number("relation", label)
        if number is None:
            number = self._relation_count
            self._relation_count += 1
            self._scratch.insert("relation", (number, label, None))
            self._scratch.remember("relation", label, number)
            self._relation_vectors.add_absent()
        return number
