"""Edits of a snapshot's rows: what a test alters, in a copy on disk or under an open snapshot."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from latence_retrieval import Sidecar
from latence_retrieval.lexical.postings import STATS_KEY, PostingStats, encode_stats
from latence_retrieval.ports.key_value import Table
from latence_retrieval.sidecar.backends import backend_named
from latence_retrieval.sidecar.codec import (
    AliasForm,
    Candidate,
    decode_incidence,
    encode_alias,
    pack_numbers,
    unpack_numbers,
)

Row = tuple[Any, bytes]
Edit = Callable[[list[Row]], list[Row]]
FAR = 1_000_000


class Altered:
    """A reader in which one table has other rows."""

    def __init__(self, reader: Any, table: Table, edit: Edit) -> None:
        self._reader = reader
        self._table = table
        self._edit = edit
        self.get, self.get_many, self.close = reader.get, reader.get_many, reader.close

    def scan(self, table: Table) -> Any:
        rows = self._reader.scan(table)
        return iter(self._edit(list(rows))) if table is self._table else rows


def altered(sound: Path, target: Path, table: Table, edit: Edit) -> Path:
    """Return a copy with another content in one table, and a manifest whose digests agree with it."""
    shutil.copytree(sound, target)
    (target / "kv.sqlite").unlink()
    writer = backend_named("sqlite").create(target / "kv.sqlite")
    with Sidecar.open(sound) as sidecar:
        for each in Table:
            rows = list(sidecar.reader.scan(each))
            writer.put_many(each, edit(rows) if each is table else rows)
    writer.close()
    manifest = json.loads((target / "manifest.json").read_text())
    content = (target / "kv.sqlite").read_bytes()
    entry = {"size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    (target / "manifest.json").write_text(json.dumps({**manifest, "files": {"kv.sqlite": entry}}))
    return target


def value(at: int, change: Callable[[bytes], bytes]) -> Edit:
    """Return an edit of one row's value; -1 is the last row."""
    return lambda rows: [
        (name, change(old) if place == at % len(rows) else old) for place, (name, old) in enumerate(rows)
    ]


def key(at: int, change: Callable[[Any], Any]) -> Edit:
    """Return an edit of one row's key, or of the last row's."""
    return lambda rows: sorted(
        (change(old) if place == at % len(rows) else old, blob) for place, (old, blob) in enumerate(rows)
    )


def dropped(at: int) -> Edit:
    return lambda rows: [row for place, row in enumerate(rows) if place != at % len(rows)]


def numbers(at: int, change: Callable[[list[int]], list[int]]) -> Edit:
    """Return an edit of one row of packed numbers."""
    return value(at, lambda blob: pack_numbers(change(list(unpack_numbers(blob)))))


def record(at: int, change: Callable[[Any], Any]) -> Edit:
    """Return an edit of one row of JSON."""
    return value(at, lambda blob: json.dumps(change(json.loads(blob))).encode())


def put(place: int, number: int) -> Callable[[list[Any]], list[Any]]:
    """Return a change of one item of a list."""
    return lambda items: [number if at == place % len(items) else item for at, item in enumerate(items)]


def word(at: int, number: int) -> Edit:
    """Return an edit of the first row: one packed number, whatever bytes follow the numbers."""

    def change(blob: bytes) -> bytes:
        return blob[: 4 * at] + number.to_bytes(4, "little") + blob[4 * at + 4 :]

    return value(0, change)


def form(**changes: Any) -> Edit:
    told = AliasForm(0.5, 1, (Candidate(0, 1.0, 1),))._replace(**changes)
    return value(0, lambda blob: encode_alias(told))


def incidence(column: int, number: int, *, at: int = 0) -> Edit:
    """Return an edit of the first edge of one of e0's blocks: a column of marks, chunks, labels and so on."""
    names = ("marks", "chunks", "labels", "confidences", "dots", "ends", "members")

    def change(blob: bytes) -> bytes:
        block = decode_incidence(blob)
        columns = [list(getattr(block, name)) for name in names]
        head = len(blob) - 4 * sum(map(len, columns)) - len(block.log_degrees)
        place = list(block.kinds).index(1) if names[column] == "marks" else 0
        columns[column][place] = number
        return blob[:head] + b"".join(map(pack_numbers, columns)) + block.log_degrees

    return value(at, change)


def wrong_stats(**changes: Any) -> Edit:
    told = replace(PostingStats(1100, 0, "english-1"), **changes)
    return lambda rows: [(k, encode_stats(told) if k == STATS_KEY else v) for k, v in rows]


def blocks(rows: list[Row]) -> list[Row]:
    """Return the rows of posting lists that are blocks, of the first term that has any."""
    found = [row for row in rows if row[0] != STATS_KEY and not row[0].endswith(b"\xff" * 4)]
    return [row for row in found if row[0][:-5] == found[0][0][:-5]]
