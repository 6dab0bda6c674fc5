"""Files that were altered after they were published: a typed error that names the file, or a sound answer."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval import Sidecar, retrieve_evidence
from latence_retrieval.errors import InvalidInputError, SidecarCorruptError, SidecarError
from latence_retrieval.ports.key_value import Table
from latence_retrieval.sidecar.backends import backend_named
from latence_retrieval.sidecar.codec import incidence_key, named_key
from latence_retrieval.sidecar_stores import SidecarChunkStore, SidecarEntityStore, SidecarVectorStore

QUESTIONS = (
    "Who leads the owner of the foundry that casts the AX-100?",
    "Where was Ada Morrow born?",
    "Which lamp is called Lumen?",
    "harvest late",
)
PAGE_BYTES = {"sqlite": 8192, "lmdb": 4096}
DRAWS = 60

Alteration = Callable[[bytearray, int, random.Random], None]
"""Alters content in place; pages of so many bytes, the first left as it is."""


def scramble(content: bytearray, page_bytes: int, draw: random.Random) -> None:
    for _ in range(draw.choice([1, 10, 100])):
        content[draw.randrange(page_bytes, len(content))] = draw.randrange(256)


def overwrite(content: bytearray, page_bytes: int, draw: random.Random) -> None:
    page = draw.randrange(1, len(content) // page_bytes) * page_bytes
    content[page : page + page_bytes] = draw.randbytes(page_bytes)


def clear(content: bytearray, page_bytes: int, draw: random.Random) -> None:
    page = draw.randrange(1, len(content) // page_bytes) * page_bytes
    content[page : page + page_bytes] = bytes(page_bytes)


def repeat(content: bytearray, page_bytes: int, draw: random.Random) -> None:
    pages = len(content) // page_bytes
    to, of = (draw.randrange(1, pages) * page_bytes for _ in range(2))
    content[to : to + page_bytes] = content[of : of + page_bytes]


def asked(path: Path) -> str:
    """Ask every question over every surface; return what came of it."""
    embedding = [1.0 - at / 16 for at in range(16)]
    try:
        with Sidecar.open(path) as sidecar:
            for question in QUESTIONS:
                retrieve_evidence(question, sidecar=sidecar, embedding=embedding)
            chunks, entities = SidecarChunkStore({"acme": sidecar}), SidecarEntityStore({"acme": sidecar})
            for surface in (
                chunks.match_chunks("acme", QUESTIONS[0], 5),
                chunks.nearest_chunks("acme", embedding, 5),
                entities.name_candidates("acme", ["p:orrin", "t:orrin", "t:ada"], limit=5),
                SidecarVectorStore({"acme": sidecar}).nearest_entities("acme", embedding, 5),
            ):
                finished(surface)
    except SidecarError as error:
        return type(error).__name__ if str(path) in str(error) else f"an error that names no file: {error}"
    return "answered"


def finished(coroutine: Any) -> Any:
    """Return what a coroutine that never waits gives."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("it waited")


@pytest.mark.parametrize("alteration", [scramble, overwrite, clear, repeat])
@pytest.mark.parametrize("backend", ["sqlite", "lmdb"])
def test_altered_pages_give_a_typed_error_or_an_answer(
    base: Any, tmp_path: Path, backend: str, alteration: Alteration
) -> None:
    if backend == "lmdb":
        pytest.importorskip("lmdb")
    vectors = [[float((n * at) % 7) - 3.0 for at in range(1, 17)] for n in range(1, 10)]
    options = {"chunk_vectors": vectors, "entity_vectors": vectors[:7], "tenant": "acme", "backend": backend}
    file = base.build(tmp_path / "kb", **options) / f"kv.{backend}"
    content = file.read_bytes()
    draw = random.Random(5)
    told: Counter[str] = Counter()
    for at in range(DRAWS):
        altered = bytearray(content)
        alteration(altered, PAGE_BYTES[backend], draw)
        path = tmp_path / f"altered-{at}"
        path.mkdir()
        for part in file.parent.iterdir():
            (path / part.name).write_bytes(altered if part == file else part.read_bytes())
        told[asked(path)] += 1
        shutil.rmtree(path)
    assert told["SidecarCorruptError"] > 0, told
    assert set(told) <= {"SidecarCorruptError", "SidecarError", "answered"}


Edit = Callable[[bytes], object]

WRONG_VALUES: dict[str, Edit] = {
    "cut": lambda value: value[:3],
    "empty": lambda value: b"",
    "text": lambda value: "text",
    "number": lambda value: 7,
    "all ones": lambda value: b"\xff" * len(value),
    "zeros": lambda value: bytes(len(value)),
}


@pytest.mark.parametrize("wrong", WRONG_VALUES)
@pytest.mark.parametrize("table", [table for table in Table if table is not Table.META])
def test_a_row_of_any_table_with_another_value_gives_a_typed_error_or_an_answer(
    small_vectors: Path, tmp_path: Path, table: Table, wrong: str
) -> None:
    path = tmp_path / "s"
    shutil.copytree(small_vectors, path)
    with sqlite3.connect(path / "kv.sqlite") as connection:
        name = "numbered" if table.is_numbered else "named"
        rows = [
            (key, value)
            for key, value in connection.execute(f"SELECT k, v FROM {name}")
            if (key >> 32 if table.is_numbered else key[0]) == table
        ]
        assert rows
        size_bytes = (path / "kv.sqlite").stat().st_size
        connection.executemany(
            f"UPDATE {name} SET v = ? WHERE k = ?", [(WRONG_VALUES[wrong](value), key) for key, value in rows]
        )
    connection.close()
    if (path / "kv.sqlite").stat().st_size != size_bytes:
        with pytest.raises(SidecarCorruptError, match="longer"):
            Sidecar.open(path)
        return
    assert asked(path) in ("SidecarCorruptError", "SidecarVersionError", "answered")


READS: dict[str, tuple[Table, int | bytes, Callable[[Sidecar], object]]] = {
    "entities": (Table.ENTITY, 0, lambda sidecar: sidecar.entities([0])),
    "chunks": (Table.CHUNK, 0, lambda sidecar: sidecar.chunks([0])),
    "facts": (Table.HYPEREDGE, 0, lambda sidecar: sidecar.facts([0])),
    "fact ids": (Table.HYPEREDGE, 0, lambda sidecar: sidecar.fact_ids([0])),
    "relations": (Table.RELATION, 0, lambda sidecar: sidecar.relations([0])),
    "links": (Table.CHUNK_LINKS, 0, lambda sidecar: sidecar.links([0])),
    "incidence": (Table.INCIDENCE, incidence_key(0, 0), lambda sidecar: sidecar.incidence(0)),
    "incidences": (Table.INCIDENCE, incidence_key(0, 0), lambda sidecar: sidecar.incidences([0])),
    "forms": (Table.ALIAS, named_key("orrin"), lambda sidecar: sidecar.alias_forms(["orrin"])),
    "heads": (Table.ALIAS_HEAD, named_key("orrin"), lambda sidecar: sidecar.alias_heads(["orrin"])),
    "terms": (Table.TERM_SENTENCE, named_key("bridg"), lambda sidecar: sidecar.term_sentences(["bridg"])),
}


class OneWrongRow:
    """A reader of a snapshot in which one row is something else."""

    def __init__(self, reader: Any, table: Table, key: int | bytes, value: Any) -> None:
        self._reader = reader
        self._wrong = (table, key)
        self._value = value

    def get(self, table: Table, key: int | bytes) -> Any:
        return self.get_many(table, [key])[0]

    def get_many(self, table: Table, keys: Any) -> list[Any]:
        values = self._reader.get_many(table, keys)
        return [self._value if (table, key) == self._wrong else value for key, value in zip(keys, values, strict=True)]

    def close(self) -> None:
        self._reader.close()


UNDECODABLE = [(name, value) for name in READS for value in (b"\xff\xff\xff", 7, "text")]
NESTED = [(name, b"[" * 100_000) for name in ("entities", "chunks", "facts", "fact ids", "relations")]


@pytest.mark.parametrize(("name", "value"), UNDECODABLE + NESTED, ids=range(len(UNDECODABLE + NESTED)))
def test_a_row_that_cannot_be_decoded_is_named_by_its_table(small: Path, name: str, value: Any) -> None:
    table, key, read = READS[name]
    with Sidecar.open(small) as sidecar:
        sidecar.reader = OneWrongRow(sidecar.reader, table, key, value)  # type: ignore[assignment]
        with pytest.raises(SidecarCorruptError, match=table.name) as caught:
            read(sidecar)
        assert str(small) in str(caught.value)


def test_damage_is_no_failure_of_the_tier_that_met_it(small: Path) -> None:
    with Sidecar.open(small) as sidecar:
        sidecar.reader = OneWrongRow(sidecar.reader, Table.ALIAS, named_key("ax 100"), b"\xff")  # type: ignore[assignment]
        with pytest.raises(SidecarCorruptError, match="ALIAS"):
            retrieve_evidence(QUESTIONS[0], sidecar=sidecar)


@pytest.mark.parametrize("backend", ["sqlite", "lmdb"])
def test_a_reader_of_altered_pages_raises_typed_errors_alone(base: Any, tmp_path: Path, backend: str) -> None:
    if backend == "lmdb":
        pytest.importorskip("lmdb")
    file = base.build(tmp_path / "kb", backend=backend) / f"kv.{backend}"
    content = file.read_bytes()
    backing = backend_named(backend)
    with Sidecar.open(file.parent) as sidecar:
        keys = {table: [key for key, _ in sidecar.reader.scan(table)] for table in Table}
    draw = random.Random(3)
    told: Counter[str] = Counter()
    for _ in range(DRAWS // 2):
        altered = bytearray(content)
        draw.choice([overwrite, clear])(altered, PAGE_BYTES[backend], draw)
        file.unlink()
        file.write_bytes(altered)
        try:
            reader = backing.open(file, size_bytes=len(content))
        except SidecarCorruptError:
            continue
        reads: dict[str, Callable[[Table], object]] = {
            "get": lambda table, reader=reader: [reader.get(table, key) for key in keys[table]],
            "get many": lambda table, reader=reader: reader.get_many(table, keys[table]),
            "scan": lambda table, reader=reader: list(reader.scan(table)),
        }
        for name, read in reads.items():
            for table in Table:
                try:
                    read(table)
                except SidecarError as error:
                    told[name if str(file) in str(error) else str(error)] += 1
        reader.close()
    assert set(told) == {"get", "get many", "scan"}


# What is not damage


def test_an_error_of_the_callers_own_code_passes_as_it_is(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "s"
    shutil.copytree(small, path)
    (path / "kv.sqlite").write_bytes(_one_bit(path / "kv.sqlite"))

    def count(text: str) -> int:
        raise ValueError("my tokenizer")

    with pytest.raises(ValueError, match="my tokenizer") as caught:
        retrieve_evidence("Where was Ada Morrow born?", sidecar=path, count_tokens=count)
    assert not isinstance(caught.value, (SidecarError, InvalidInputError))


def _one_bit(file: Path) -> bytes:
    """Return the file's content with a bit that no reader looks at turned: a digest tells, nothing else does."""
    content = bytearray(file.read_bytes())
    content[95] ^= 1  # SQLite's "version-valid-for", read by writers alone
    return bytes(content)


def test_a_mistake_of_the_program_over_a_sound_snapshot_is_not_called_damage(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise IndexError("a mistake")

    monkeypatch.setattr("latence_retrieval.evidence.retrieve.push", fail)
    with pytest.raises(IndexError, match="a mistake"):
        retrieve_evidence(QUESTIONS[0], sidecar=small)


def test_damage_is_not_looked_for_in_the_snapshot_that_took_the_place(
    base: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = base.build(tmp_path / "kb")

    def fail(*arguments: object, **options: object) -> None:
        raise IndexError("a mistake")

    with Sidecar.open(path) as kept:
        base.chunks.append({"id": "c-new", "text": "Another edition."})
        base.build(path, replace=True)
        monkeypatch.setattr("latence_retrieval.evidence.retrieve.push", fail)
        with pytest.raises(IndexError, match="a mistake"):
            retrieve_evidence(QUESTIONS[0], sidecar=kept)
