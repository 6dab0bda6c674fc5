"""Build and publish a sidecar: records in, one immutable directory out."""

from __future__ import annotations

import hashlib
import json
import shutil
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from latence_retrieval.arguments import check_flag, check_name, checked_count, checked_path
from latence_retrieval.build.facts import load_facts
from latence_retrieval.build.graph import Graph
from latence_retrieval.build.inputs import RecordSource
from latence_retrieval.build.link import discover_entities, match_mentions
from latence_retrieval.build.lists import SpilledLists, SpilledRows
from latence_retrieval.build.load import load_chunks, load_entities, load_relations
from latence_retrieval.build.progress import Progress, ProgressCallback
from latence_retrieval.build.publish import file_entry, staged_directory
from latence_retrieval.build.scratch import Scratch
from latence_retrieval.build.sinks import Sinks
from latence_retrieval.build.tables import Gathered, put_table
from latence_retrieval.build.vectors import VectorSource, vector_rows
from latence_retrieval.errors import InvalidInputError
from latence_retrieval.lexical.postings_writer import PostingsWriter
from latence_retrieval.lexical.terms import ANALYSERS, Analyser
from latence_retrieval.ports.key_value import KeyValueBackend, Table
from latence_retrieval.sidecar.backends import backend_named
from latence_retrieval.sidecar.manifest import MANIFEST_NAME, Counts, Manifest

__all__ = ["DEFAULT_ANALYSER", "BuildReport", "build_sidecar"]

DEFAULT_ANALYSER = "english-1"
DEFAULT_MEMORY_MB = 256


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
        max_memory_mb: bound for what the build gathers, sorts and remembers. On top come the interpreter with this
            package, bounded caches of words and the backend's write buffer (adr/0048), and some 10 bytes an entity.
        progress: called with (stage, items done, finished).

    Raises:
        RecordError: an invalid record, or a reference to nothing.
        InvalidInputError: an argument that cannot be used.
        BuildError: the target cannot be published.
    """
    path = checked_path("target", target)
    for name, flag in (("titles_as_entities", titles_as_entities), ("link", link), ("discover", discover)):
        check_flag(name, flag)
    check_flag("replace", replace)
    check_name("tenant", tenant)
    check_name("embedding_model", embedding_model)
    if progress is not None and not callable(progress):
        raise InvalidInputError("progress", f"is {progress!r}", fix="give a function, or None")
    if title_vectors is not None and not titles_as_entities:
        raise InvalidInputError(
            "title_vectors", "have no titles to go with", fix="set titles_as_entities, or leave them out"
        )
    if not isinstance(analyser, str) or analyser not in ANALYSERS:
        raise InvalidInputError("analyser", f"{analyser!r} is unknown", fix=f"choose one of {', '.join(ANALYSERS)}")
    if checked_count("max_memory_mb", max_memory_mb) < 16:
        raise InvalidInputError("max_memory_mb", f"is {max_memory_mb}", fix="give at least 16")
    chosen = backend_named(backend)
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


class _Job:
    """One build: the scratch file, the sorters and what is known so far."""

    def __init__(self, staged: Path, scratch: Path, memory_bytes: int, progress: Progress, stack: ExitStack) -> None:
        self._staged = staged
        self._directory = scratch
        self._memory_bytes = memory_bytes
        self._progress = progress
        self._stack = stack
        self._scratch = Scratch(scratch / "scratch.sqlite", cache_bytes=memory_bytes // 8)
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
    ) -> Sinks:
        """Take all input in, link it, and lay the graph out."""
        scratch = self._scratch
        entity_rows, title_rows, chunk_rows, relation_rows = (
            vector_rows(source, f"{name}_vectors")
            for name, source in zip(("entity", "title", "chunk", "relation"), sources, strict=True)
        )
        sinks = Sinks(self._staged, self._stack, entity=entity_rows, chunk=chunk_rows, relation=relation_rows)
        self._postings = self._stack.enter_context(
            PostingsWriter(analyser=analyser, directory=self._directory, buffer_bytes=self._memory_bytes // 8)
        )
        self._term_sentences = self._stack.enter_context(
            SpilledLists(self._directory, max_memory_bytes=self._memory_bytes // 8)
        )
        self._name_keys = self._stack.enter_context(
            SpilledLists(self._directory, max_memory_bytes=self._memory_bytes // 8)
        )
        load_entities(scratch, entities, sinks.entity, self._name_keys, self._progress)
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
            name_keys=self._name_keys,
            annotated=link or discover,
            progress=self._progress,
        )
        load_facts(scratch, facts, sinks.relation, self._progress)
        scratch.forget()  # ids are numbers from here on
        self._catalogue = scratch.count("entity")
        if discover:
            discover_entities(
                scratch, directory=self._directory, max_memory_bytes=self._memory_bytes // 8, progress=self._progress
            )
        for _ in range(scratch.count("entity") - self._catalogue):
            sinks.entity.add_absent()
        if link:
            longest = scratch.one("SELECT max(longest) FROM head") or 0
            match_mentions(scratch, longest=longest, progress=self._progress)
        sinks.finish()
        edges = self._stack.enter_context(SpilledRows(self._directory, max_memory_bytes=self._memory_bytes // 4))
        self._graph = Graph(scratch, edges, sinks.similarity(scratch))
        self._graph.collect(self._progress)
        return sinks

    def write(
        self, backend: KeyValueBackend, sinks: Sinks, *, tenant: str | None, embedding_model: str | None
    ) -> Manifest:
        """Write every table and file, and return the manifest."""
        sinks.fill_entities(self._scratch)
        digest = hashlib.sha256()
        written: dict[Table, int] = {}
        writer = backend.create(self._staged / backend.filename)
        with self._progress.stage("tables") as tick:
            for table, rows in self._gathered().tables(sinks.pair_dots()):
                written[table] = put_table(writer, table, rows, digest)
                tick()
        writer.close()
        vectors = sinks.keep_present(digest)
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

    def _gathered(self) -> Gathered:
        return Gathered(
            self._scratch,
            self._graph,
            self._postings,
            self._term_sentences,
            self._name_keys,
            directory=self._directory,
            max_memory_bytes=self._memory_bytes // 8,
        )
