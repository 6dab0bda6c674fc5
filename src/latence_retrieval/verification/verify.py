"""Check a published snapshot in full: every file's digest, every row's shape, every reference."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from latence_retrieval.arguments import checked_path
from latence_retrieval.errors import SidecarCorruptError
from latence_retrieval.ports.key_value import Table
from latence_retrieval.sidecar.damage import check_digests
from latence_retrieval.sidecar.files import absolute
from latence_retrieval.sidecar.manifest import Counts, read_manifest
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.sidecar.rows import UNDECODABLE
from latence_retrieval.verification.rows import checks_of
from latence_retrieval.verification.vectors import check_vectors

__all__ = ["VerifyReport", "check_table", "verify_sidecar"]

_REBUILD = "build it again"


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was checked."""

    snapshot_id: str
    files: int
    rows: dict[str, int]


def verify_sidecar(path: str | Path) -> VerifyReport:
    """Verify the snapshot in `path`: digests first, before any engine maps a file; then rows, references and vectors.

    Raises:
        SidecarError: the first thing that is wrong, by file and row.
    """
    directory = absolute(checked_path("path", path))
    check_digests(directory, read_manifest(directory))
    with Sidecar.open(directory) as sidecar:
        rows = {table.name.lower(): check_table(sidecar, table) for table in Table if table is not Table.META}
        check_vectors(sidecar)
        return VerifyReport(sidecar.manifest.snapshot_id, len(sidecar.manifest.files), rows)


def check_table(sidecar: Sidecar, table: Table) -> int:
    """Read a table from end to end; return how many rows it has.

    Raises:
        SidecarCorruptError: the first row that is wrong, or another number of rows than the manifest says.
    """
    checks = checks_of(table, sidecar)
    rows = 0
    key: object = None
    for key, value in sidecar.reader.scan(table):
        rows += 1
        try:
            problem = checks.row(key, value)
        except UNDECODABLE as error:
            problem = f"cannot be decoded ({type(error).__name__}: {error})"
        if problem is not None:
            raise SidecarCorruptError(sidecar.path, f"table {table.name}, row {key!r}: {problem}", fix=_REBUILD)
    problem = checks.end()
    expected = _row_counts(sidecar.manifest.counts).get(table, rows)
    if problem is None and rows != expected:
        problem = f"there are {rows} rows, the manifest says {expected}"
    if problem is not None:
        raise SidecarCorruptError(sidecar.path, f"table {table.name}, last row {key!r}: {problem}", fix=_REBUILD)
    return rows


def _row_counts(counts: Counts) -> dict[Table, int]:
    return {
        Table.ALIAS: counts.forms,
        Table.ENTITY: counts.entities,
        Table.ENTITY_ID: counts.entities,
        Table.CHUNK: counts.chunks,
        Table.CHUNK_ID: counts.chunks,
        Table.RELATION: counts.relations,
        Table.HYPEREDGE: counts.facts,
        Table.TERM: counts.terms,
    }
