"""Take the input records into the scratch file: validate, number, and check every reference."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_core import PydanticSerializationError

from latence_retrieval.build.annotate import annotate, pack_annotated, sentence_ends
from latence_retrieval.build.catalogue import forms_of
from latence_retrieval.build.inputs import Numbered, RecordSource, at_line, read_records
from latence_retrieval.build.lists import SpilledLists
from latence_retrieval.build.progress import Progress
from latence_retrieval.build.scratch import Scratch
from latence_retrieval.build.term_sentences import add_terms
from latence_retrieval.build.vectors import VectorSink
from latence_retrieval.errors import BuildError, InvalidInputError
from latence_retrieval.lexical.blocking import keys_of
from latence_retrieval.lexical.postings_writer import PostingsWriter
from latence_retrieval.records import Chunk, Entity, Relation
from latence_retrieval.text.tokenise import tokenise, words_of

__all__ = [
    "MENTIONS",
    "TITLE_ID_PREFIX",
    "add_entity",
    "entity_number",
    "load_chunks",
    "load_entities",
    "load_relations",
]

MENTIONS = "mentions"
"""The relation of mention hyperedges; always relation number 0."""

TITLE_ID_PREFIX = "title:"
"""Ids of the entities that `titles_as_entities` makes."""

_LONGEST_TITLE = 4000  # characters that stand in an id; an id may have 4,096


def add_entity(
    scratch: Scratch, number: int, entity: Entity, *, name_keys: SpilledLists | None = None, is_title: bool = False
) -> None:
    """Store an entity, its forms and, where a list for them is given, the keys of its names."""
    body = entity.model_dump_json(exclude_defaults=True)
    scratch.insert("entity", (number, entity.id, body))
    surfaces = (entity.name, *entity.aliases)
    tokens = [tokenise(surface) for surface in surfaces]
    forms = forms_of(surfaces, tokens, discovered=entity.discovered, is_title=is_title)
    scratch.later("alias", [(form, number, prior, flags) for form, prior, flags, _ in forms])
    for form, _, _, length in forms:
        words = form.split(" ", 2)
        heads = (words[0],) if length == 1 else (words[0], f"{words[0]} {words[1]}")
        scratch.later("head", [(head, length) for head in heads])
    if name_keys is not None:
        name_keys.add([(key, number) for key in keys_of(tokens)])


def load_entities(
    scratch: Scratch, source: RecordSource | None, vectors: VectorSink, name_keys: SpilledLists, progress: Progress
) -> None:
    """Number the catalogue's entities in input order.

    Raises:
        RecordError: an invalid line, or an id that occurs twice.
    """
    if source is None:
        return
    with progress.stage("entities") as tick:
        for number, item in enumerate(read_records(source, Entity, argument="entities")):
            try:
                add_entity(scratch, number, item.record, name_keys=name_keys)
            except sqlite3.IntegrityError:
                raise at_line(source, "entities", item.line, f"entity id {item.record.id!r} occurs twice") from None
            except PydanticSerializationError as error:
                raise at_line(source, "entities", item.line, f"holds a lone surrogate ({error})") from error
            _add_vector(vectors, item, source, "entities")
            tick()


def load_relations(scratch: Scratch, source: RecordSource | None, vectors: VectorSink) -> None:
    """Number the relations that are described; 0 is `mentions`. Labels met only in facts follow later."""
    scratch.insert("relation", (0, MENTIONS, "named in the same passage"))
    vectors.add_absent()
    if source is None:
        return
    for number, item in enumerate(read_records(source, Relation, argument="relations"), start=1):
        try:
            scratch.insert("relation", (number, item.record.label, item.record.description))
        except sqlite3.IntegrityError:
            raise at_line(source, "relations", item.line, f"relation {item.record.label!r} occurs twice") from None
        _add_vector(vectors, item, source, "relations")


def load_chunks(
    scratch: Scratch,
    source: RecordSource,
    *,
    titles_as_entities: bool,
    vectors: VectorSink,
    title_vectors: Iterator[Sequence[float]] | None,
    entity_vectors: VectorSink,
    postings: PostingsWriter,
    term_sentences: SpilledLists,
    name_keys: SpilledLists,
    annotated: bool,
    progress: Progress,
) -> None:
    """Number the chunks in input order, index their terms, and (where `annotated`) keep what the linker needs.

    Raises:
        RecordError: an invalid line, an id that occurs twice, or a reference to an entity that does not exist.
        BuildError: `title_vectors` has another number of rows than there are chunks.
    """
    next_entity = scratch.count("entity")
    with progress.stage("chunks") as tick:
        for number, item in enumerate(read_records(source, Chunk, argument="chunks")):
            chunk = item.record
            title_vector = None if title_vectors is None else _title_row(title_vectors, number)
            title, text = words_of(chunk.title or ""), words_of(chunk.text)
            ends = sentence_ends(chunk.text, text.starts)
            add_terms(term_sentences, number, title.forms, text.forms, ends)
            forms, marks = pack_annotated(annotate(chunk.text, text, ends)) if annotated else (None, None)
            try:
                body = chunk.model_dump_json(exclude_defaults=True)
                scratch.insert("chunk", (number, chunk.id, body, forms, marks))
            except PydanticSerializationError as error:
                raise at_line(source, "chunks", item.line, f"holds a lone surrogate ({error})") from error
            except sqlite3.IntegrityError:
                raise at_line(source, "chunks", item.line, f"chunk id {chunk.id!r} occurs twice") from None
            scratch.remember("chunk", chunk.id, number)
            about = [entity_number(scratch, reference, source, "chunks", item.line) for reference in chunk.about]
            stated = [entity_number(scratch, reference, source, "chunks", item.line) for reference in chunk.mentions]
            if stated:
                scratch.later("stated", [(number, entity) for entity in stated])
            if titles_as_entities and chunk.title and not about:
                identifier = _title_id(chunk.title)
                known = scratch.number("entity", identifier)
                if known is None:
                    titled = Entity(id=identifier, name=chunk.title)
                    add_entity(scratch, next_entity, titled, name_keys=name_keys, is_title=True)
                    scratch.forget_one("entity", identifier)
                    _add_title_vector(entity_vectors, title_vector, number)
                    known = next_entity
                    next_entity += 1
                about.append(known)
            if about:
                scratch.later("about", [(number, place, entity) for place, entity in enumerate(dict.fromkeys(about))])
            _add_vector(vectors, item, source, "chunks")
            analyser = postings.analyser
            postings.add_terms(number, analyser.terms_of(title) + analyser.terms_of(text))
            tick()
    if title_vectors is not None and next(title_vectors, None) is not None:
        count = scratch.count("chunk")
        raise BuildError(f"title_vectors: more than {count} rows, but no more chunks; give one row a chunk, in order")


def _title_id(title: str) -> str:
    """Return the id of a title's entity; of a very long title, a prefix and a digest."""
    if len(title) <= _LONGEST_TITLE:
        return TITLE_ID_PREFIX + title
    return f"{TITLE_ID_PREFIX}{title[:_LONGEST_TITLE]}#{hashlib.sha256(title.encode()).hexdigest()}"


def _title_row(rows: Iterator[Sequence[float]], number: int) -> Sequence[float]:
    row = next(rows, None)
    if row is None:
        raise BuildError(
            f"title_vectors: only {number} rows, but there are more chunks; give one row a chunk, in order"
        )
    return row


def _add_title_vector(vectors: VectorSink, row: Sequence[float] | None, number: int) -> None:
    try:
        vectors.add(row)
    except InvalidInputError as error:
        raise InvalidInputError("title_vectors", f"row {number}: {error.problem}", fix=error.fix) from error


def _add_vector(vectors: VectorSink, item: Numbered[Any], source: RecordSource, argument: str) -> None:
    """Add a record's row; an inline vector that cannot be used is the record's fault."""
    try:
        vectors.add(item.vector)
    except InvalidInputError as error:
        if item.vector is None:
            raise
        raise at_line(source, argument, item.line, f"field vector: {error.problem}; {error.fix}") from error


def entity_number(scratch: Scratch, identifier: str, source: RecordSource, argument: str, line: int) -> int:
    """Return the number of an entity that a record refers to, or raise RecordError with the record's line."""
    number = scratch.number("entity", identifier)
    if number is None:
        raise at_line(source, argument, line, f"entity {identifier!r} is in no entity record")
    return number
