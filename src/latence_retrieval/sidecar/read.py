"""An opened snapshot: typed look-ups over its tables and vector files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from pydantic_core import from_json

from latence_retrieval.arguments import checked_path
from latence_retrieval.errors import SidecarCorruptError, SidecarNotFoundError
from latence_retrieval.ports.key_value import KeyValueReader, Table
from latence_retrieval.records import Chunk, Entity
from latence_retrieval.sidecar.backends import backend_named
from latence_retrieval.sidecar.codec import (
    AliasForm,
    ChunkLinks,
    IncidenceBlock,
    decode_alias,
    decode_incidence,
    decode_links,
    decode_term_sentences,
    incidence_degree,
    incidence_key,
    named_key,
    unpack_numbers,
)
from latence_retrieval.sidecar.files import absolute
from latence_retrieval.sidecar.manifest import MANIFEST_NAME, Manifest, check_identity, read_manifest
from latence_retrieval.sidecar.rows import UNDECODABLE, StatedFact, decode_fact, decode_relation
from latence_retrieval.vectors import VectorFile

__all__ = ["Sidecar"]

_NO_ID = b"[null,"  # how the record of a fact without an id begins
_OPEN_ATTEMPTS = 3  # a publisher may exchange the directory between two of our reads


class Sidecar:
    """One immutable snapshot, opened for reading.

    Opening costs tens of microseconds, so a call may open its own; a caller who keeps one open may share it among
    threads. A forked or spawned worker opens its own. Use as a context manager, or call `close`.
    """

    def __init__(self, path: Path, manifest: Manifest, reader: KeyValueReader) -> None:
        """Use `Sidecar.open`."""
        self.path = path
        self.manifest = manifest
        self.reader = reader
        self.is_closed = False
        self._vector_files: dict[str, VectorFile] = {}

    @classmethod
    def open(cls, path: str | Path, *, tenant: str | None = None, embedding_model: str | None = None) -> Sidecar:
        """Open the snapshot in directory `path`.

        Args:
            path: the published directory.
            tenant: refuse a snapshot of another tenant; None asks for none in particular.
            embedding_model: refuse a snapshot whose vectors another model made.

        Raises:
            SidecarNotFoundError: nothing is there.
            SidecarCorruptError: a file is truncated, altered in size, or of another kind.
            SidecarVersionError: a newer (or retired) format.
            SidecarMismatchError: another tenant or model.
            MissingExtraError: the snapshot's backend is an extra that is not installed.
            InvalidInputError: `path` is no path.
        """
        directory = absolute(checked_path("path", path))
        for attempt in range(_OPEN_ATTEMPTS):
            before = _identity(directory)
            try:
                manifest = read_manifest(directory)
                check_identity(directory, manifest, tenant=tenant, embedding_model=embedding_model)
                sidecar = cls(directory, manifest, _open_reader(directory, manifest))
                try:
                    sidecar._map_vector_files()
                except BaseException:
                    sidecar.close()
                    raise
            except (SidecarNotFoundError, SidecarCorruptError):
                if _identity(directory) == before or attempt == _OPEN_ATTEMPTS - 1:
                    raise
                continue
            if _identity(directory) == before:
                return sidecar
            sidecar.close()
        raise SidecarCorruptError(directory, "keeps changing while it is opened", fix="publish less often, or retry")

    def close(self) -> None:
        """Release the handles; allowed twice."""
        self.is_closed = True
        self.reader.close()
        for file in self._vector_files.values():
            file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Names

    def alias_heads(self, heads: Sequence[str]) -> list[int]:
        """Return for each first token, or two, the length in tokens of the longest form that starts so; 0 for none."""
        values = self.reader.get_many(Table.ALIAS_HEAD, [named_key(head) for head in heads])
        try:
            return [0 if value is None else unpack_numbers(value)[0] for value in values]
        except UNDECODABLE as error:
            raise self._undecodable(Table.ALIAS_HEAD, error) from error

    def alias_forms(self, forms: Sequence[str]) -> list[AliasForm | None]:
        """Return what each normalised form may stand for, None where no entity has it."""
        values = self.reader.get_many(Table.ALIAS, [named_key(form) for form in forms])
        try:
            return [None if value is None else decode_alias(value) for value in values]
        except UNDECODABLE as error:
            raise self._undecodable(Table.ALIAS, error) from error

    # The hypergraph

    def incidence(self, entity: int, block: int = 0) -> IncidenceBlock | None:
        """Return a block of an entity's hyperedges, None where it has no such block."""
        value = self.reader.get(Table.INCIDENCE, incidence_key(entity, block))
        try:
            return None if value is None else decode_incidence(value)
        except UNDECODABLE as error:
            raise self._undecodable(Table.INCIDENCE, error) from error

    def incidences(self, entities: Sequence[int], *, max_degree: int | None = None) -> list[IncidenceBlock | None]:
        """Return the first block of each entity's hyperedges, None for those without any or with more than asked."""
        values = self.reader.get_many(Table.INCIDENCE, [incidence_key(entity, 0) for entity in entities])
        try:
            if max_degree is not None:
                values = [None if value is None or incidence_degree(value) > max_degree else value for value in values]
            return [None if value is None else decode_incidence(value) for value in values]
        except UNDECODABLE as error:
            raise self._undecodable(Table.INCIDENCE, error) from error

    def links(self, chunks: Sequence[int]) -> list[ChunkLinks | None]:
        """Return the entities of each chunk, None where a chunk has none."""
        values = self.reader.get_many(Table.CHUNK_LINKS, list(chunks))
        try:
            return [None if value is None else decode_links(value) for value in values]
        except UNDECODABLE as error:
            raise self._undecodable(Table.CHUNK_LINKS, error) from error

    def facts(self, numbers: Sequence[int]) -> list[StatedFact]:
        """Return facts by number."""
        values = self._present(Table.HYPEREDGE, numbers)
        try:
            return [decode_fact(value) for value in values]
        except UNDECODABLE as error:
            raise self._undecodable(Table.HYPEREDGE, error) from error

    def fact_ids(self, numbers: Sequence[int]) -> list[str | None]:
        """Return the ids of facts by number, None for those without one."""
        values = self._present(Table.HYPEREDGE, numbers)
        try:
            return [None if value.startswith(_NO_ID) else from_json(value)[0] for value in values]
        except UNDECODABLE as error:
            raise self._undecodable(Table.HYPEREDGE, error) from error

    def relations(self, numbers: Sequence[int]) -> list[tuple[str, str | None]]:
        """Return (label, description) of relations by number."""
        values = self._present(Table.RELATION, numbers)
        try:
            return [decode_relation(value) for value in values]
        except UNDECODABLE as error:
            raise self._undecodable(Table.RELATION, error) from error

    def term_sentences(self, terms: Sequence[str]) -> list[dict[int, int] | None]:
        """Return for each content term its sentence mask by chunk; None where it is unknown or too common."""
        values = self.reader.get_many(Table.TERM_SENTENCE, [named_key(term) for term in terms])
        try:
            return [None if value is None else decode_term_sentences(value) for value in values]
        except UNDECODABLE as error:
            raise self._undecodable(Table.TERM_SENTENCE, error) from error

    # Records

    def entities(self, numbers: Sequence[int]) -> list[Entity]:
        """Return entities by number."""
        values = self._present(Table.ENTITY, numbers)
        try:
            return [Entity.model_validate_json(value) for value in values]
        except UNDECODABLE as error:
            raise self._undecodable(Table.ENTITY, error) from error

    def entity_names(self, numbers: Sequence[int]) -> list[tuple[str, str]]:
        """Return (id, name) of entities by number, without the rest of their records."""
        values = self._present(Table.ENTITY, numbers)
        try:
            return [(row["id"], row["name"]) for row in map(from_json, values)]
        except UNDECODABLE as error:
            raise self._undecodable(Table.ENTITY, error) from error

    def chunks(self, numbers: Sequence[int]) -> list[Chunk]:
        """Return chunks by number."""
        values = self._present(Table.CHUNK, numbers)
        try:
            return [Chunk.model_validate_json(value) for value in values]
        except UNDECODABLE as error:
            raise self._undecodable(Table.CHUNK, error) from error

    def entity_numbers(self, ids: Sequence[str]) -> list[int | None]:
        """Return the numbers of entity ids, None for those that are not here."""
        return self._numbers(Table.ENTITY_ID, ids)

    def chunk_numbers(self, ids: Sequence[str]) -> list[int | None]:
        """Return the numbers of chunk ids, None for those that are not here."""
        return self._numbers(Table.CHUNK_ID, ids)

    # Vectors

    @property
    def entity_vectors(self) -> VectorFile | None:
        """Unit vectors of the entities by number; None where the snapshot has none."""
        return self._vector_files.get("entity")

    @property
    def chunk_vectors(self) -> VectorFile | None:
        """Unit vectors of the chunks by number; None where the snapshot has none."""
        return self._vector_files.get("chunk")

    @property
    def relation_vectors(self) -> VectorFile | None:
        """Unit vectors of the relations by number; None where the snapshot has none."""
        return self._vector_files.get("relation")

    def _numbers(self, table: Table, ids: Sequence[str]) -> list[int | None]:
        values = self.reader.get_many(table, [named_key(identifier) for identifier in ids])
        try:
            return [None if value is None else int.from_bytes(value[:4], "little") for value in values]
        except UNDECODABLE as error:
            raise self._undecodable(table, error) from error

    def _present(self, table: Table, numbers: Sequence[int]) -> list[bytes]:
        values = self.reader.get_many(table, list(numbers))
        found = []
        for number, value in zip(numbers, values, strict=True):
            if value is None:
                raise self._damaged(f"row {number} of table {table.name} is missing")
            found.append(value)
        return found

    def _undecodable(self, table: Table, error: Exception) -> SidecarCorruptError:
        return self._damaged(f"a row of table {table.name} cannot be decoded ({error})")

    def _damaged(self, problem: str) -> SidecarCorruptError:
        return SidecarCorruptError(self.path, problem, fix="publish the sidecar again")

    def _map_vector_files(self) -> None:
        """Map them at once: later, their paths may lead into the snapshot that replaced this one."""
        counts = self.manifest.counts
        rows = {"entity": counts.entities, "chunk": counts.chunks, "relation": counts.relations}
        for name in self.manifest.vectors:
            path = self.path / f"{name}_vecs.f32"
            entry = self.manifest.files.get(path.name)
            if entry is None or self.manifest.dimension is None or name not in rows:
                raise SidecarCorruptError(
                    self.path / MANIFEST_NAME, f"does not describe {path.name}", fix="publish the sidecar again"
                )
            self._vector_files[name] = VectorFile(path, dimension=self.manifest.dimension, count=rows[name])


def _open_reader(directory: Path, manifest: Manifest) -> KeyValueReader:
    backend = backend_named(manifest.backend)
    entry = manifest.files.get(backend.filename)
    if entry is None:
        raise SidecarCorruptError(
            directory / "manifest.json", f"does not list {backend.filename}", fix="publish the sidecar again"
        )
    return backend.open(directory / backend.filename, size_bytes=entry.size_bytes)


def _identity(directory: Path) -> tuple[int, int] | None:
    try:
        status = directory.stat()
    except (OSError, ValueError):
        return None
    return status.st_dev, status.st_ino
