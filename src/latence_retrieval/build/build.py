"""Build and publish a sidecar: records in, one immutable directory out."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from latence_retrieval.build.graph import Graph, PairDots, Similarity
from latence_retrieval.build.inputs import RecordSource
from latence_retrieval.build.link import discover_entities, link_probability, match_mentions
from latence_retrieval.build.lists import SpilledLists
from latence_retrieval.build.load import load_chunks, load_entities, load_facts, load_relations
from latence_retrieval.build.progress import Progress, ProgressCallback
from latence_retrieval.build.publish import file_entry, staged_directory
from latence_retrieval.build.scratch import Scratch
from latence_retrieval.build.spill import SpillSorter
from latence_retrieval.build.term_sentences import term_sentence_rows
from latence_retrieval.build.vectors import VectorSink, VectorSource, vector_rows
from latence_retrieval.errors import InvalidInputError
from latence_retrieval.lexical.blocking import name_keys
from latence_retrieval.lexical.postings_writer import PostingsWriter
from latence_retrieval.lexical.terms import ANALYSERS, Analyser
from latence_retrieval.ports.key_value import Key, KeyValueBackend, KeyValueWriter, Table
from latence_retrieval.records import Entity
from latence_retrieval.sidecar.backends import backend_named
from latence_retrieval.sidecar.codec import AliasForm, Candidate, encode_alias, named_key, pack_numbers
from latence_retrieval.sidecar.manifest import MANIFEST_NAME, Counts, Manifest
from latence_retrieval.vectors import VectorFile

__all__ = ["DEFAULT_ANALYSER", "BuildReport", "build_sidecar"]

DEFAULT_ANALYSER = "english-1"
DEFAULT_MEMORY_MB = 256

_VECTOR_FILES = {"entity": "entity_vecs.f32", "chunk": "chunk_vecs.f32", "relation": "relation_vecs.f32"}
_ROWS_AT_ONCE = 64  # rows that enter the digest together
_CONTEXT_CHUNKS = 64  # chunks averaged for an entity that has no vector of its own


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What was published, where, and what the builder wants its caller to know."""

    path: Path
    manifest: Manifest
    notes: tuple[str, ...] = field(default=())


def build_sidecar(
    target: str | Path,
    *,
    chunks: RecordSource,
    entities: RecordSource | None = None,
    facts: RecordSource | None = None,
    relations: RecordSource | None = None,
    titles_as_entities: bool = False,
    link: bool = True,
    discover: bool = False,
    entity_vectors: VectorSource | None = None,
    title_vectors: VectorSource | None = None,
    chunk_vectors: VectorSource | None = None,
    relation_vectors: VectorSource | None = None,
    embedding_model: str | None = None,
    tenant: str | None = None,
    backend: str = "sqlite",
    analyser: str = DEFAULT_ANALYSER,
    replace: bool = False,
    max_memory_mb: int = DEFAULT_MEMORY_MB,
    progress: ProgressCallback | None = None,
) -> BuildReport:
    """Build a snapshot in a temporary sibling of `target` and publish it by one rename.

    Records stream; a line that is wrong stops the build with its file and number, and nothing at `target` changes.
    The result is deterministic: one input gives one `snapshot_id`, whatever the backend.

    Args:
        target: directory to publish; must not exist unless `replace`.
        chunks: `Chunk` records.
        entities: `Entity` records, the catalogue.
        facts: `Fact` records.
        relations: `Relation` records, where labels have descriptions or vectors.
        titles_as_entities: make an entity of each distinct title of chunks that name no `about` of their own.
        link: find the catalogue's names in the chunks' text.
        discover: make entities of capitalised phrases that recur across chunks, marked as discovered.
        entity_vectors: one row an entity record, in order.
        title_vectors: one row a chunk, for the entities that titles make; the first chunk of a title counts.
        chunk_vectors: one row a chunk.
        relation_vectors: one row a relation record.
        embedding_model: name of the model behind the vectors; readers compare it.
        tenant: whose snapshot it is; readers compare it.
        backend: "sqlite", or "lmdb" with the extra.
        analyser: how chunks become index terms.
        replace: exchange an existing snapshot for the new one.
        max_memory_mb: bound for the build's sorting and caching; some 10 bytes an entity come on top.
        progress: called with (stage, items done, finished).

    Raises:
        RecordError: an invalid record, or a reference to nothing.
        InvalidInputError: an argument that cannot be used.
        BuildError: the target cannot be published.
    """
    if analyser not in ANALYSERS:
        raise InvalidInputError("analyser", f"{analyser!r} is unknown", fix=f"choose one of {', '.join(ANALYSERS)}")
    if max_memory_mb < 16:
        raise InvalidInputError("max_memory_mb", f"is {max_memory_mb}", fix="give at least 16")
    chosen = backend_named(backend)
    path = Path(target)
    with staged_directory(path, replace=replace) as staged, ExitStack() as stack:
        scratch_directory = staged / "scratch"
        scratch_directory.mkdir()
        memory_bytes = max_memory_mb << 20
        job = _Job(staged, scratch_directory, memory_bytes, Progress(progress), stack)
        sinks = job.load(
            chunks=chunks,
            entities=entities,
            facts=facts,
            relations=relations,
            titles_as_entities=titles_as_entities,
            discover=discover,
            link=link,
            sources=(entity_vectors, title_vectors, chunk_vectors, relation_vectors),
            analyser=ANALYSERS[analyser],
        )
        manifest = job.write(chosen, sinks, tenant=tenant, embedding_model=embedding_model)
        stack.close()
        shutil.rmtree(scratch_directory)
        (staged / MANIFEST_NAME).write_text(manifest.model_dump_json(indent=1) + "\n", encoding="utf-8")
    return BuildReport(path, manifest, tuple(job.notes))


@dataclass(slots=True)
class _Sinks:
    entity: VectorSink
    chunk: VectorSink
    relation: VectorSink
    dimension: int | None = None

    def named(self) -> Iterator[tuple[str, VectorSink]]:
        yield "entity", self.entity
        yield "chunk", self.chunk
        yield "relation", self.relation


class _Job:
    """One build: the scratch file, the sorters and what is known so far."""

    def __init__(self, staged: Path, scratch: Path, memory_bytes: int, progress: Progress, stack: ExitStack) -> None:
        self._staged = staged
        self._directory = scratch
        self._memory_bytes = memory_bytes
        self._progress = progress
        self._stack = stack
        self._scratch = Scratch(scratch / "scratch.sqlite", cache_bytes=memory_bytes // 4)
        stack.callback(self._scratch.close)
        self._catalogue = 0
        self.notes: list[str] = []

    def load(
        self,
        *,
        chunks: RecordSource,
        entities: RecordSource | None,
        facts: RecordSource | None,
        relations: RecordSource | None,
        titles_as_entities: bool,
        discover: bool,
        link: bool,
        sources: tuple[VectorSource | None, ...],
        analyser: Analyser,
    ) -> _Sinks:
        """Take all input in, link it, and lay the graph out."""
        scratch = self._scratch
        entity_rows, title_rows, chunk_rows, relation_rows = (vector_rows(source) for source in sources)
        sinks = _Sinks(
            self._sink("entity", entity_rows), self._sink("chunk", chunk_rows), self._sink("relation", relation_rows)
        )
        self._postings = self._stack.enter_context(
            PostingsWriter(analyser=analyser, directory=self._directory, buffer_bytes=self._memory_bytes // 4)
        )
        self._term_sentences = self._stack.enter_context(
            SpilledLists(self._directory, max_memory_bytes=self._memory_bytes // 4)
        )
        load_entities(scratch, entities, sinks.entity, self._progress)
        sinks.entity.use_up()
        load_relations(scratch, relations, sinks.relation)
        sinks.relation.use_up()
        load_chunks(
            scratch,
            chunks,
            titles_as_entities=titles_as_entities,
            vectors=sinks.chunk,
            title_vectors=title_rows,
            entity_vectors=sinks.entity,
            postings=self._postings,
            term_sentences=self._term_sentences,
            annotated=link or discover,
            progress=self._progress,
        )
        load_facts(scratch, facts, sinks.relation, self._progress)
        self._catalogue = scratch.count("entity")
        if discover:
            discover_entities(
                scratch, directory=self._directory, max_memory_bytes=self._memory_bytes // 4, progress=self._progress
            )
        for _ in range(scratch.count("entity") - self._catalogue):
            sinks.entity.add_absent()
        if link:
            longest = scratch.one("SELECT max(longest) FROM head") or 0
            match_mentions(scratch, longest=longest, progress=self._progress)
        for _, sink in sinks.named():
            sinks.dimension = sink.finish(sinks.dimension) or sinks.dimension
        self._sorter = self._stack.enter_context(SpillSorter(self._directory, max_memory_bytes=self._memory_bytes // 2))
        self._graph = Graph(scratch, self._sorter, self._similarity(sinks))
        self._graph.collect(self._progress)
        return sinks

    def write(
        self, backend: KeyValueBackend, sinks: _Sinks, *, tenant: str | None, embedding_model: str | None
    ) -> Manifest:
        """Write every table and file, and return the manifest."""
        if sinks.chunk.present and sinks.dimension is not None:
            self._fill_entity_vectors(sinks, sinks.dimension)
        digest = hashlib.sha256()
        written: dict[Table, int] = {}
        writer = backend.create(self._staged / backend.filename)
        with self._progress.stage("tables") as tick:
            for table, rows in self._tables(self._pair_dots(sinks)):
                written[table] = _put(writer, table, rows, digest)
                tick()
        writer.close()
        vectors = self._vector_files(sinks, digest)
        scratch = self._scratch
        types = [row[0] for row in scratch.rows("SELECT DISTINCT json_extract(json, '$.type') FROM entity")]
        counts = Counts(
            entities=scratch.count("entity"),
            catalogue_entities=self._catalogue,
            forms=written[Table.ALIAS],
            facts=scratch.count("fact"),
            hyperedges=self._graph.hyperedges,
            chunks=scratch.count("chunk"),
            relations=scratch.count("relation"),
            mentions=self._graph.mentions,
            terms=written[Table.TERM],
        )
        files = {path.name: file_entry(path) for path in sorted(self._staged.iterdir()) if path.is_file()}
        identity = json.dumps([tenant, embedding_model, sinks.dimension])
        digest.update(identity.encode())
        return Manifest(
            snapshot_id=digest.hexdigest()[:32],
            tenant=tenant,
            backend=backend.name,
            embedding_model=embedding_model,
            dimension=sinks.dimension if vectors else None,
            counts=counts,
            longest_alias_tokens=scratch.one("SELECT max(longest) FROM head") or 0,
            entity_types=tuple(sorted(kind for kind in types if kind)),
            vectors=vectors,
            indexed_length=self._postings.stats.total_length,
            largest_chunk_frequency=max(self._graph.chunk_counts, default=0),
            files=files,
        )

    def _sink(self, name: str, rows: Iterator[Sequence[float]] | None) -> VectorSink:
        return self._stack.enter_context(VectorSink(self._staged / _VECTOR_FILES[name], f"{name}_vectors", rows))

    def _tables(self, pair_dots: PairDots | None) -> Iterator[tuple[Table, Iterable[tuple[Key, bytes]]]]:
        """Yield the tables in the order in which they are written, each with its rows in key order."""
        scratch = self._scratch
        yield Table.ALIAS, self._sorted(self._alias_rows())
        yield (
            Table.ALIAS_HEAD,
            self._sorted(
                (named_key(token), pack_numbers([longest]))
                for token, longest in scratch.rows("SELECT token, longest FROM head")
            ),
        )
        yield Table.ENTITY, ((n, body.encode()) for n, body in scratch.rows("SELECT n, json FROM entity ORDER BY n"))
        yield Table.INCIDENCE, self._graph.incidence_rows(pair_dots)
        yield Table.CHUNK, ((n, body.encode()) for n, body in scratch.rows("SELECT n, json FROM chunk ORDER BY n"))
        yield Table.CHUNK_LINKS, self._graph.links_rows()
        relations = scratch.rows("SELECT n, label, description FROM relation ORDER BY n")
        yield Table.RELATION, ((n, json.dumps([label, description]).encode()) for n, label, description in relations)
        yield Table.ENTITY_ID, self._sorted(self._id_rows("SELECT id, n FROM entity"))
        yield Table.CHUNK_ID, self._sorted(self._id_rows("SELECT id, n FROM chunk"))
        yield Table.TERM, self._postings.rows()
        yield Table.NAME_KEY, self._name_key_rows()
        yield Table.HYPEREDGE, self._fact_rows()
        yield Table.TERM_SENTENCE, term_sentence_rows(self._term_sentences)

    def _sorted(self, rows: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        with SpillSorter(self._directory, max_memory_bytes=self._memory_bytes // 4) as sorter:
            sorter.add_all(rows)
            yield from sorter

    def _alias_rows(self) -> Iterator[tuple[bytes, bytes]]:
        query = (
            "SELECT a.form, a.entity, a.prior, a.flags, o.all_of_it, o.as_name FROM alias a"
            " LEFT JOIN occurrence o ON o.form = a.form ORDER BY a.form, a.entity"
        )
        counts = self._graph.chunk_counts
        for form, rows in groupby(self._scratch.rows(query), key=lambda row: row[0]):
            members = list(rows)
            candidates = tuple(Candidate(row[1], row[2], row[3]) for row in members)
            # A form that the corpus never shows says nothing about how it is written: taken as a name.
            probability = 1.0 if members[0][4] is None else link_probability(members[0][4], members[0][5])
            frequency = sum(counts[candidate.entity] for candidate in candidates)
            yield named_key(form), encode_alias(AliasForm(probability, frequency, candidates))

    def _id_rows(self, query: str) -> Iterator[tuple[bytes, bytes]]:
        for identifier, number in self._scratch.rows(query):
            yield named_key(identifier), pack_numbers([number]) + identifier.encode("utf-8", "surrogatepass")

    def _name_key_rows(self) -> Iterator[tuple[bytes, bytes]]:
        query = "SELECT n, json FROM entity WHERE n < ? ORDER BY n"
        with SpilledLists(self._directory, max_memory_bytes=self._memory_bytes // 4) as lists:
            for number, body in self._scratch.rows(query, (self._catalogue,)):
                lists.add([(key, number) for key in name_keys(Entity.model_validate_json(body))])
            for key, numbers in lists:
                yield key, pack_numbers(numbers)

    def _fact_rows(self) -> Iterator[tuple[int, bytes]]:
        for number, body in self._scratch.rows("SELECT n, json FROM fact ORDER BY n"):
            yield number, body.encode()

    def _similarity(self, sinks: _Sinks) -> Similarity | None:
        """Compare chunks with entities by vectors: the entity's first own chunk stands for it, else its vector."""
        if not sinks.chunk.present or sinks.dimension is None:
            return None
        chunk_file = self._open(sinks.chunk, sinks.dimension)
        entity_file = self._open(sinks.entity, sinks.dimension) if sinks.entity.present else None
        first_about = "SELECT min(chunk) FROM about WHERE entity = ?"
        self._scratch.run("CREATE INDEX about_by_entity ON about (entity, chunk)")

        def similarity(chunk: int, entity: int) -> float | None:
            own = self._scratch.cached(first_about, str(entity))
            query = chunk_file.row(chunk)
            if own is not None:
                return chunk_file.dots(query, [own])[0]
            if entity_file is not None and any(entity_file.row(entity)):
                return entity_file.dots(query, [entity])[0]
            return None

        return similarity

    def _pair_dots(self, sinks: _Sinks) -> PairDots | None:
        """Compare entities with chunks by their vectors; None where either has none at all."""
        if not sinks.entity.present or not sinks.chunk.present or sinks.dimension is None:
            return None
        entity_file, chunk_file = self._open(sinks.entity, sinks.dimension), self._open(sinks.chunk, sinks.dimension)

        def pair_dots(entities: Sequence[int], chunks: Sequence[int]) -> list[float | None]:
            dots = entity_file.pair_dots(entities, chunk_file, chunks)
            return [
                None if dot == 0.0 and (entity_file.is_absent(entity) or chunk_file.is_absent(chunk)) else dot
                for dot, entity, chunk in zip(dots, entities, chunks, strict=True)
            ]

        return pair_dots

    def _open(self, sink: VectorSink, dimension: int) -> VectorFile:
        file = VectorFile(sink.path, dimension=dimension, count=sink.count)
        self._stack.callback(file.close)
        return file

    def _vector_files(self, sinks: _Sinks, digest: Any) -> tuple[str, ...]:
        """Drop files that hold no vector, and return the names of the rest."""
        kept = []
        for name, sink in sinks.named():
            if sink.present:
                kept.append(name)
                with sink.path.open("rb") as stream:
                    digest.update(hashlib.file_digest(stream, "sha256").digest())
            else:
                sink.path.unlink()
        return tuple(kept)

    def _fill_entity_vectors(self, sinks: _Sinks, dimension: int) -> None:
        """Give an entity without a vector the mean of its chunks: its own chunks, else those that mention it."""
        chunk_file = self._open(sinks.chunk, dimension)
        sinks.entity.fill(_context_means(self._scratch, chunk_file, sinks.entity), dimension)


def _context_means(scratch: Scratch, chunks: VectorFile, entities: VectorSink) -> Iterator[tuple[int, Sequence[float]]]:
    """Yield (entity, mean chunk vector) for those without a vector: their own chunks, else those that mention them."""
    query = (
        "SELECT entity, kind, chunk FROM (SELECT entity, 0 AS kind, chunk FROM about"
        " UNION SELECT entity, 1, chunk FROM settled) ORDER BY entity, kind, chunk"
    )
    for entity, rows in groupby(scratch.rows(query), key=lambda row: row[0]):
        if not entities.is_absent(entity):
            continue
        members = list(rows)
        numbers = [row[2] for row in members if row[1] == members[0][1]][:_CONTEXT_CHUNKS]
        vectors = [chunks.row(number) for number in numbers]
        yield entity, [sum(column) / len(vectors) for column in zip(*vectors, strict=True)]


def _put(writer: KeyValueWriter, table: Table, rows: Iterable[tuple[Key, bytes]], digest: Any) -> int:
    """Write one table and add its content to the digest."""

    def counted() -> Iterator[tuple[Key, bytes]]:
        digest.update(b"table %d\n" % table)
        stream = iter(rows)
        while batch := list(islice(stream, _ROWS_AT_ONCE)):
            parts: list[bytes] = []
            for key, value in batch:
                raw = key.to_bytes(4, "big") if isinstance(key, int) else key
                parts += (len(raw).to_bytes(4, "big"), raw, len(value).to_bytes(4, "big"), value)
            digest.update(b"".join(parts))
            yield from batch

    return writer.put_many(table, counted())
