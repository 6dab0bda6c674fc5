"""Check a published snapshot in full: every file's digest, every row's shape, every reference."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from latence_retrieval.errors import SidecarCorruptError, SidecarNotFoundError
from latence_retrieval.ports.key_value import Table
from latence_retrieval.sidecar.codec import EdgeKind, decode_alias, decode_incidence, decode_links
from latence_retrieval.sidecar.read import Sidecar

__all__ = ["VerifyReport", "verify_sidecar"]


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What was checked."""

    snapshot_id: str
    files: int
    rows: dict[str, int]


def verify_sidecar(path: str | Path) -> VerifyReport:
    """Verify the snapshot in `path`.

    Raises:
        SidecarError: the first thing that is wrong, by file and row.
    """
    directory = Path(path)
    with Sidecar.open(directory) as sidecar:
        for name, entry in sidecar.manifest.files.items():
            try:
                with (directory / name).open("rb") as stream:
                    digest = hashlib.file_digest(stream, "sha256").hexdigest()
            except FileNotFoundError:
                raise SidecarNotFoundError(directory / name, "is missing", fix="publish the sidecar again") from None
            if digest != entry.sha256:
                raise SidecarCorruptError(
                    directory / name,
                    "its content does not match the manifest's digest",
                    fix="publish the sidecar again",
                )
        rows = {table.name.lower(): _check_table(sidecar, table) for table in Table if table is not Table.META}
        counts = sidecar.manifest.counts
        for table, expected in (("entity", counts.entities), ("chunk", counts.chunks), ("hyperedge", counts.facts)):
            if rows[table] != expected:
                raise SidecarCorruptError(
                    directory,
                    f"table {table} has {rows[table]} rows, the manifest says {expected}",
                    fix="build it again",
                )
        return VerifyReport(sidecar.manifest.snapshot_id, len(sidecar.manifest.files), rows)


def _check_table(sidecar: Sidecar, table: Table) -> int:
    counts = sidecar.manifest.counts
    rows = 0
    for key, value in sidecar.reader.scan(table):
        rows += 1
        try:
            ok = _is_sound(table, value, entities=counts.entities, chunks=counts.chunks, facts=counts.facts)
        except (ValueError, IndexError, KeyError) as error:
            raise SidecarCorruptError(
                sidecar.path, f"table {table.name}, row {key!r}: cannot be decoded ({error})", fix="build it again"
            ) from error
        if not ok:
            raise SidecarCorruptError(
                sidecar.path, f"table {table.name}, row {key!r}: refers to what is not there", fix="build it again"
            )
    return rows


def _is_sound(table: Table, value: bytes, *, entities: int, chunks: int, facts: int) -> bool:
    if table is Table.ALIAS:
        form = decode_alias(value)
        return bool(form.candidates) and all(candidate.entity < entities for candidate in form.candidates)
    if table is Table.INCIDENCE:
        block = decode_incidence(value)
        return (
            all(chunk < chunks for chunk in block.chunks)
            and all(mark < facts for mark, kind in zip(block.marks, block.kinds, strict=True) if kind == EdgeKind.FACT)
            and all(member >> 1 < entities for member in block.members)
            and len(block.log_degrees) == len(block.members)
        )
    if table is Table.CHUNK_LINKS:
        links = decode_links(value)
        return all(entity >> 1 < entities for entity in links.entities)
    return True
