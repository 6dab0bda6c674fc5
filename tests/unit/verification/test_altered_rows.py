"""`verify_sidecar` reads every row of every table: a row that is wrong is named, whatever the digests say."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from pathlib import Path

import pytest

from latence_retrieval import Sidecar, build_sidecar, verify_sidecar
from latence_retrieval.errors import SidecarCorruptError
from latence_retrieval.ports.key_value import Table
from latence_retrieval.sidecar.codec import (
    Candidate,
    named_key,
    pack_numbers,
)
from latence_retrieval.verification.verify import check_table
from tests.unit.verification.edits import (
    FAR,
    Altered,
    Edit,
    altered,
    blocks,
    dropped,
    form,
    incidence,
    key,
    numbers,
    put,
    record,
    value,
    word,
    wrong_stats,
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot with rows in every table, a hub of several blocks, and posting lists of several blocks."""
    names = [f"Quillon {n}" for n in range(200)]
    target = tmp_path_factory.mktemp("sound") / "kb"
    build_sidecar(
        target,
        entities=[{"id": f"e{n}", "name": name} for n, name in enumerate(names)],
        chunks=[
            {"id": f"c{n}", "title": "Harbour", "text": f"{names[n % 200]} ships {n}. " * (1 + n % 3), "about": ["e0"]}
            for n in range(1100)
        ],
        facts=[
            {"id": f"f{n}", "relation": "ships", "members": [{"entity": "e0", "role": "by"}, f"e{n}"], "chunk": f"c{n}"}
            for n in range(1, 199)
        ],
        relations=[{"label": "ships", "description": "sends by sea"}],
    )
    verify_sidecar(target)
    return target


CUT: Edit = value(0, lambda blob: blob[:-1])
EMPTY: Edit = value(0, lambda blob: b"")

ALTERED: dict[Table, dict[str, Edit]] = {
    Table.ALIAS: {
        "cut": CUT,
        "empty": EMPTY,
        "no candidate": form(candidates=()),
        "dangling": form(candidates=(Candidate(FAR, 1.0, 1),)),
        "twice": form(candidates=(Candidate(0, 1.0, 1), Candidate(0, 1.0, 1))),
        "not ascending": form(candidates=(Candidate(1, 1.0, 1), Candidate(0, 1.0, 1))),
        "unlikely": form(link_probability=1.5),
        "no prior": form(candidates=(Candidate(0, 0.0, 1),)),
        "unknown flag": form(candidates=(Candidate(0, 1.0, 64),)),
        "longer": value(0, lambda blob: blob + bytes(4)),
        "missing": dropped(-1),
    },
    Table.ALIAS_HEAD: {
        "cut": CUT,
        "empty": EMPTY,
        "zero": numbers(0, put(0, 0)),
        "too long": numbers(0, put(0, FAR)),
        "two numbers": numbers(0, lambda old: [*old, 1]),
    },
    Table.ENTITY: {
        "cut": CUT,
        "no name": record(0, lambda old: {**old, "name": ""}),
        "first missing": dropped(0),
        "last missing": dropped(-1),
        "gap": key(-1, lambda number: number + 1),
    },
    Table.INCIDENCE: {
        "cut": CUT,
        "empty": EMPTY,
        "degree too high": word(0, FAR),
        "degree too low": word(0, 1),
        "more edges than there are": word(1, FAR),
        "mark": incidence(0, FAR, at=8),
        "chunk": incidence(1, FAR),
        "relation": incidence(2, FAR << 2),
        "kind": incidence(2, 3),
        "confidence": incidence(3, FAR + 1),
        "ends": incidence(5, FAR),
        "member": incidence(6, FAR << 1, at=8),
        "a byte short of its degrees": value(8, lambda blob: blob[:-1]),
        "entity": key(-1, lambda name: FAR.to_bytes(4, "big") + name[4:]),
        "long key": key(-1, lambda name: name + b"\0"),
        "first block missing": dropped(0),
        "second block missing": dropped(1),
        "a block's number": key(10, lambda name: name[:4] + (99).to_bytes(4, "big")),
        "last of a hub's blocks missing": dropped(10),
    },
    Table.CHUNK: {
        "cut": CUT,
        "no text": record(0, lambda old: {"id": old["id"]}),
        "last missing": dropped(-1),
        "first missing": dropped(0),
    },
    Table.CHUNK_LINKS: {
        "cut": CUT,
        "empty": EMPTY,
        "entity": word(2, FAR << 1),
        "subjects": word(0, FAR),
        "mask": word(4, 0),
        "chunk": key(-1, lambda number: number + FAR),
    },
    Table.RELATION: {
        "cut": CUT,
        "no label": record(0, lambda old: ["", old[1]]),
        "no list": record(0, lambda old: {"label": old[0]}),
        "number": record(1, lambda old: [old[0], 7]),
        "last missing": dropped(-1),
    },
    Table.HYPEREDGE: {
        "cut": CUT,
        "chunk": record(0, put(1, FAR)),
        "relation": record(0, put(2, FAR)),
        "negative relation": record(0, put(2, -1)),
        "confidence": record(0, put(3, FAR + 1)),
        "member": record(0, lambda old: [*old[:4], [0, FAR], old[5]]),
        "one member": record(0, lambda old: [*old[:4], [0], [None]]),
        "roles": record(0, lambda old: [*old[:5], ["by"]]),
        "a role that is no text": record(0, lambda old: [*old[:5], [7, None]]),
        "shorter": record(0, lambda old: old[:5]),
        "first missing": dropped(0),
        "last missing": dropped(-1),
    },
    Table.ENTITY_ID: {
        "cut": value(0, lambda blob: blob[:3]),
        "dangling": value(0, lambda blob: pack_numbers([FAR]) + blob[4:]),
        "another's number": value(0, lambda blob: pack_numbers([199]) + blob[4:]),
        "another id": value(0, lambda blob: blob + b"x"),
        "another key": key(-1, lambda name: name + b"x"),
        "missing": dropped(0),
    },
    Table.CHUNK_ID: {
        "cut": value(0, lambda blob: blob[:3]),
        "dangling": value(0, lambda blob: pack_numbers([FAR]) + blob[4:]),
        "another's number": value(1090, lambda blob: pack_numbers([0]) + blob[4:]),
        "another key": key(-1, lambda name: name + b"x"),
        "missing": dropped(0),
    },
    Table.TERM: {
        "cut statistics": CUT,
        "statistics of fewer chunks": wrong_stats(documents=7),
        "statistics of fewer terms": wrong_stats(total_length=7),
        "empty head": value(-1, lambda blob: b""),
        "a key without a block": lambda rows: [*rows, (b"\xff", b"")],
        "another key": lambda rows: [*rows, (b"\xff" * 9, b"")],
        "missing": dropped(-1),
        "first block missing": lambda rows: [row for row in rows if row is not blocks(rows)[0]],
        "last block missing": lambda rows: [row for row in rows if row is not blocks(rows)[-1]],
        "blocks without a head": lambda rows: [*rows[:-1], (b"\xff" + bytes(5), blocks(rows)[0][1])],
        "blocks of two terms": lambda rows: [*rows, (b"\xff" + bytes(5), blocks(rows)[0][1]), rows[-1]],
        "a block of no block": lambda rows: [
            (name, blob[:-1] if (name, blob) == blocks(rows)[0] else blob) for name, blob in rows
        ],
        "a block twice": lambda rows: [
            (name, blocks(rows)[0][1] if (name, blob) == blocks(rows)[1] else blob) for name, blob in rows
        ],
        "a list of another length": lambda rows: [
            (name, blob[:2] + (77).to_bytes(4, "little") + blob[6:] if place == len(rows) - 1 else blob)
            for place, (name, blob) in enumerate(rows)
        ],
    },
    Table.NAME_KEY: {
        "cut": CUT,
        "empty": EMPTY,
        "dangling": numbers(0, put(-1, FAR)),
        "not ascending": numbers(0, lambda old: [*old, 0]),
    },
    Table.TERM_SENTENCE: {
        "cut": CUT,
        "empty": EMPTY,
        "odd": numbers(0, lambda old: old[1:]),
        "dangling": numbers(0, lambda old: [*old[: len(old) // 2 - 1], FAR, *old[len(old) // 2 :]]),
        "no sentence": numbers(0, put(-1, 0)),
        "a chunk twice": numbers(0, lambda old: [old[0], *old[: len(old) // 2], old[-1], *old[len(old) // 2 :]]),
    },
}
CASES = [(table, name) for table, edits in ALTERED.items() for name in edits]


def test_every_table_that_a_build_fills_has_a_case(sound: Path) -> None:
    with Sidecar.open(sound) as sidecar:
        filled = {table for table in Table if any(True for _ in sidecar.reader.scan(table))}
    assert filled == set(ALTERED)


@pytest.mark.parametrize(("table", "name"), CASES, ids=[f"{table.name} {name}" for table, name in CASES])
def test_a_row_that_is_wrong_is_named_with_its_table(sound: Path, table: Table, name: str) -> None:
    with Sidecar.open(sound) as sidecar:
        sidecar.reader = Altered(sidecar.reader, table, ALTERED[table][name])  # type: ignore[assignment]
        with pytest.raises(SidecarCorruptError, match=rf"table {table.name}\b") as caught:
            check_table(sidecar, table)
    assert str(sound) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "have no head"),
        ("first block missing", "is block 1, expected 0"),
        ("last block missing", "names other blocks than there are"),
        ("a block twice", "names chunk 0 after 1023"),
        ("a list of another length", "counts 77 chunks, its postings 1100"),
    ],
)
def test_what_is_wrong_with_a_posting_list_is_told(sound: Path, name: str, message: str) -> None:
    with Sidecar.open(sound) as sidecar:
        sidecar.reader = Altered(sidecar.reader, Table.TERM, ALTERED[Table.TERM][name])  # type: ignore[assignment]
        with pytest.raises(SidecarCorruptError, match=message):
            check_table(sidecar, Table.TERM)


OTHER_ID = record(0, lambda old: {**old, "id": "other"})


@pytest.mark.parametrize(
    ("table", "edit", "named"),
    [
        (Table.ALIAS, dropped(-1), "ALIAS"),
        (Table.TERM, dropped(-1), "TERM"),
        (Table.ENTITY, OTHER_ID, "ENTITY_ID"),
        (Table.CHUNK, OTHER_ID, "CHUNK_ID"),
    ],
)
def test_verification_reads_rows_whose_digests_are_right(
    sound: Path, tmp_path: Path, table: Table, edit: Edit, named: str
) -> None:
    path = altered(sound, tmp_path / "kb", table, edit)
    with pytest.raises(SidecarCorruptError, match=rf"table {named}\b"):
        verify_sidecar(path)


@pytest.mark.parametrize("name", ["entity", "chunk", "relation"])
@pytest.mark.parametrize("wrong", [[math.nan, 0.0], [math.inf, 0.0], [0.5, 0.5], [1e30, 1e30]])
def test_a_vector_of_another_length_than_one_is_named(tmp_path: Path, name: str, wrong: list[float]) -> None:
    path = tmp_path / "kb"
    build_sidecar(
        path,
        entities=[{"id": "e", "name": "Orrin", "vector": [0.0, 2.0]}],
        chunks=[{"id": "c", "text": "Orrin", "vector": [3.0, 0.0]}],
        relations=[{"label": "ships", "vector": [1.0, 1.0]}],
    )
    verify_sidecar(path)
    file = path / f"{name}_vecs.f32"
    content = file.read_bytes()[:-8] + struct.pack("<2f", *wrong)
    file.write_bytes(content)
    manifest = json.loads((path / "manifest.json").read_text())
    manifest["files"][file.name]["sha256"] = hashlib.sha256(content).hexdigest()
    (path / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SidecarCorruptError, match=rf"{file.name}: row {len(content) // 8 - 1}"):
        verify_sidecar(path)


def test_rewriting_the_same_rows_is_sound(sound: Path, tmp_path: Path) -> None:
    path = altered(sound, tmp_path / "kb", Table.ALIAS, lambda rows: rows)
    assert verify_sidecar(path) == verify_sidecar(sound)


def test_a_long_id_is_found_under_the_key_of_its_digest(tmp_path: Path) -> None:
    long = "k" * 4000
    assert len(named_key(long)) < 500
    verify_sidecar(build_sidecar(tmp_path / "kb", chunks=[{"id": long, "text": "x"}]).path)
