"""Bad input to the builder: an error with file and line, and nothing left behind."""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval import Entity, build_sidecar
from latence_retrieval.errors import (
    BuildError,
    DimensionMismatchError,
    InvalidInputError,
    LatenceRetrievalError,
    RecordError,
)

ENTITY = {"id": "e1", "name": "Orrin Works"}
CHUNK = {"id": "c1", "text": "Orrin Works is here."}
FACT = {"relation": "near", "members": ["e1", "e2"], "chunk": "c1"}


def lines(path: Path, *records: Any) -> Path:
    """Write JSON Lines; text is written as it stands."""
    path.write_text(
        "".join((record if isinstance(record, str) else json.dumps(record)) + "\n" for record in records),
        encoding="utf-8",
    )
    return path


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Path]:
    """A target; after the test nothing of a failed build may be there."""
    folder = tmp_path / "out"
    folder.mkdir()
    yield folder / "sidecar"
    assert list(folder.iterdir()) == []


BAD_LINES = [
    ("{", "JSON|EOF"),
    ("nonsense", "JSON|expected"),
    ('{"vector": ', "JSON"),
    ("[1, 2]", "object"),
    ('[{"vector": []}]', "object"),
    ("null", "object"),
    ('"text"', "object"),
    ("{}", "id"),
    ('{"id": "x"}', "text|name|required"),
    ('{"id": 7, "text": "t", "name": "n"}', "id"),
    ('{"id": "", "text": "t", "name": "n"}', "id"),
    ('{"id": "x", "text": "t", "name": ["n"], "about": "all"}', "name|about"),
    ('{"id": "\\ud800", "text": "t", "name": "n"}', "surrogate|JSON|unicode"),
    ('{"id": "x", "text": "t", "name": "n", "metadata": {"a": NaN}, "properties": {"a": NaN}}', "metadata|properties"),
    (
        '{"id": "x", "text": "t", "name": "n", "metadata": {"a": null}, "properties": {"a": null}}',
        "metadata|properties",
    ),
    ('{"id": "x", "text": "t", "name": "n", "vector": [1.0, NaN]}', "vector|NaN"),
    ('{"id": "x", "text": "t", "name": "n", "vector": [1.0, Infinity]}', "vector|NaN"),
    ('{"id": "x", "text": "t", "name": "n", "vector": ["a", "b"]}', "vector"),
    ('{"id": "x", "text": "t", "name": "n", "vector": 3}', "vector"),
    ('{"id": "x", "text": "t", "name": "n", "vector": []}', "vector"),
    ('{"id": "x", "text": "t", "name": "n", "vector": [1.0, 0.0, 0.0]}', "vector|dimension"),
]


@pytest.mark.parametrize(("bad", "problem"), BAD_LINES, ids=range(len(BAD_LINES)))
@pytest.mark.parametrize("kind", ["chunks", "entities"])
def test_a_bad_line_is_named_by_file_and_number(
    tmp_path: Path, target: Path, kind: str, bad: str, problem: str
) -> None:
    good = {**(CHUNK if kind == "chunks" else ENTITY), "vector": [0.6, 0.8]}
    path = lines(tmp_path / f"{kind}.jsonl", good, "", bad)
    sources: dict[str, Any] = {"chunks": [CHUNK], kind: path}
    with pytest.raises(RecordError, match=problem) as caught:
        build_sidecar(target, **sources)
    assert (caught.value.path, caught.value.line) == (str(path), 3)
    assert str(path) in str(caught.value)


BAD_FACTS = [
    ({**FACT, "members": ["e1"]}, "members"),
    ({**FACT, "members": ["e1", "nobody"]}, "entity 'nobody'"),
    ({**FACT, "chunk": "nowhere"}, "chunk 'nowhere'"),
    ({**FACT, "confidence": 1.5}, "confidence"),
    ({**FACT, "confidence": -0.1}, "confidence"),
    ('{"relation": "near", "members": ["e1", "e2"], "chunk": "c1", "confidence": NaN}', "confidence"),
    ({**FACT, "relation": ""}, "relation"),
    ({"members": ["e1", "e2"], "chunk": "c1"}, "relation"),
    ({**FACT, "members": [{"role": "x"}, "e2"]}, "members"),
    ({**FACT, "members": "e1"}, "members"),
]


@pytest.mark.parametrize(("bad", "problem"), BAD_FACTS, ids=range(len(BAD_FACTS)))
def test_a_bad_fact_is_named_by_file_and_number(tmp_path: Path, target: Path, bad: Any, problem: str) -> None:
    path = lines(tmp_path / "facts.jsonl", FACT, bad)
    with pytest.raises(RecordError, match=problem) as caught:
        build_sidecar(target, chunks=[CHUNK], entities=[ENTITY, {"id": "e2", "name": "Two"}], facts=path)
    assert (caught.value.path, caught.value.line) == (str(path), 2)


@pytest.mark.parametrize(
    ("sources", "problem"),
    [
        ({"entities": [ENTITY, ENTITY]}, "<entities>, line 2: .*'e1' occurs twice"),
        ({"chunks": [CHUNK, CHUNK]}, "<chunks>, line 2: .*'c1' occurs twice"),
        ({"relations": [{"label": "near"}, {"label": "near"}]}, "<relations>, line 2: .*'near' occurs twice"),
        ({"relations": [{"label": "mentions"}]}, "<relations>, line 1: .*'mentions'"),
        ({"chunks": [{**CHUNK, "about": ["nobody"]}]}, "<chunks>, line 1: entity 'nobody'"),
        ({"chunks": [{**CHUNK, "mentions": ["nobody"]}]}, "<chunks>, line 1: entity 'nobody'"),
        ({"chunks": [CHUNK, 7]}, "<chunks>, line 2: is a int"),
        ({"chunks": [CHUNK, Entity(id="x", name="y")]}, "<chunks>, line 2"),
    ],
    ids=range(8),
)
def test_a_repeated_or_dangling_id_is_named(target: Path, sources: dict[str, Any], problem: str) -> None:
    with pytest.raises(RecordError, match=problem):
        build_sidecar(target, **{"chunks": [CHUNK], **sources})


VECTORS = [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("argument", "rows", "error", "problem"),
    [
        ("chunk_vectors", [*VECTORS, [1.0, 1.0]], BuildError, "more than 2 rows"),
        ("chunk_vectors", VECTORS[:1], BuildError, "only 1 rows"),
        ("chunk_vectors", [[1.0, 0.0], [math.nan, 0.0]], InvalidInputError, "row 1"),
        ("chunk_vectors", [[1.0, 0.0], [1.0]], DimensionMismatchError, "row 1"),
        ("chunk_vectors", [[], []], InvalidInputError, "empty"),
        ("chunk_vectors", [["a", "b"], ["c", "d"]], InvalidInputError, "row 0"),
        ("chunk_vectors", [7, 8], InvalidInputError, "row 0"),
        ("entity_vectors", [*VECTORS], BuildError, "more than 1 rows"),
        ("entity_vectors", [], BuildError, "only 0 rows"),
        ("title_vectors", VECTORS[:1], BuildError, "title_vectors: only 1 rows"),
        ("title_vectors", [*VECTORS, [1.0, 1.0]], BuildError, "title_vectors: more than 2 rows"),
        ("title_vectors", [[math.nan, 1.0], [1.0, 0.0]], InvalidInputError, "title_vectors"),
        ("relation_vectors", [*VECTORS, [1.0, 1.0]], BuildError, "more than 2 rows"),
        ("relation_vectors", VECTORS[:1], BuildError, "only 1 rows"),
    ],
    ids=range(14),
)
def test_vectors_that_do_not_fit_are_named(
    target: Path, argument: str, rows: Any, error: type[Exception], problem: str
) -> None:
    chunks = [{"id": "c1", "title": "One", "text": "t"}, {"id": "c2", "title": "Two", "text": "t"}]
    relations = [{"label": "near"}, {"label": "far"}]
    with pytest.raises(error, match=problem):
        build_sidecar(
            target, chunks=chunks, entities=[ENTITY], relations=relations, titles_as_entities=True, **{argument: rows}
        )


def test_vectors_of_two_dimensions_are_refused(target: Path) -> None:
    with pytest.raises(DimensionMismatchError, match="dimension"):
        build_sidecar(
            target, chunks=[CHUNK], entities=[ENTITY], chunk_vectors=[[1.0, 0.0]], entity_vectors=[[1.0, 0.0, 0.0]]
        )


@pytest.mark.parametrize("argument", ["chunks", "entities", "facts", "relations"])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, target: Path, argument: str) -> None:
    for path in (tmp_path / "missing.jsonl", tmp_path / "missing.jsonl.gz", tmp_path):
        with pytest.raises(InvalidInputError, match=argument):
            build_sidecar(target, **{"chunks": [CHUNK], argument: path})  # type: ignore[arg-type]


def test_a_damaged_gzip_file_is_named(tmp_path: Path, target: Path) -> None:
    whole = gzip.compress("".join(json.dumps({**CHUNK, "id": f"c{n}"}) + "\n" for n in range(2000)).encode())
    for name, content in (("cut", whole[: len(whole) // 2]), ("plain", b"{}\n"), ("junk", whole[:10] + b"x" * 100)):
        path = tmp_path / f"{name}.jsonl.gz"
        path.write_bytes(content)
        with pytest.raises(RecordError, match=name):
            build_sidecar(target, chunks=path)


def test_a_byte_that_is_no_text_is_named(tmp_path: Path, target: Path) -> None:
    path = tmp_path / "chunks.jsonl"
    path.write_bytes(json.dumps(CHUNK).encode() + b'\n{"id": "x", "text": "\xff"}\n')
    with pytest.raises(RecordError, match="line 2"):
        build_sidecar(target, chunks=path)


@pytest.mark.parametrize(
    "options",
    [{"analyser": "klingon"}, {"max_memory_mb": 1}, {"backend": "papyrus"}, {"chunks": 7}, {"chunk_vectors": "no.npy"}],
    ids=range(5),
)
def test_options_that_cannot_be_used_are_refused(target: Path, options: dict[str, Any]) -> None:
    with pytest.raises(LatenceRetrievalError):
        build_sidecar(target, **{"chunks": [CHUNK], **options})


def test_an_error_of_the_callers_own_iterable_leaves_nothing(target: Path) -> None:
    def records() -> Iterator[dict[str, Any]]:
        yield CHUNK
        raise OSError("the network went away")

    with pytest.raises(OSError, match="network"):
        build_sidecar(target, chunks=records())
