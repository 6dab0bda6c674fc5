"""Arguments and records that a build cannot use: typed errors that name them, and nothing at the target."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval import Chunk, Sidecar, build_sidecar, verify_sidecar
from latence_retrieval.errors import InvalidInputError, RecordError

CHUNK = {"id": "c", "text": "Orrin Works"}

ARGUMENTS: list[dict[str, Any]] = [
    *({"target": value} for value in (None, 7, "", b"kb")),
    *({"chunks": value} for value in (None, 7, "null\0.jsonl", "k" * 256, "absent.jsonl")),
    *({"tenant": value} for value in (7, "", "\ud800", b"acme")),
    *({"embedding_model": value} for value in (7, "", "\ud800")),
    *({name: "no"} for name in ("replace", "link", "discover", "titles_as_entities")),
    *({"analyser": value} for value in ("x", [], None)),
    *({"max_memory_mb": value} for value in ("256", 16.5, True, 15, -1, None)),
    *({"progress": value} for value in (7, "bar")),
    *({"title_vectors": value} for value in ([[1.0]],)),
    *({"chunk_vectors": value} for value in (7, b"ab", {1: 2}, {1.0}, "null\0.npy")),
    *(
        {"chunk_vectors": [row]}
        for row in ("ab", b"ab", {1: 2}, {1.0}, 7, ["1"], [1j], [10**400], [math.nan], [math.inf], [1e308] * 4, [])
    ),
]


@pytest.mark.parametrize("wrong", ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_a_wrong_argument_is_refused_by_name(tmp_path: Path, wrong: dict[str, Any]) -> None:
    argument = next(iter(wrong))
    given: dict[str, Any] = {"target": tmp_path / "kb", "chunks": [CHUNK], **wrong}
    with pytest.raises(InvalidInputError, match=r"null|" + argument):
        build_sidecar(given.pop("target"), **given)
    assert list(tmp_path.iterdir()) == []


RECORDS: list[dict[str, Any]] = [
    *({"chunks": [{**CHUNK, "vector": value}]} for value in ("ab", {"1": 2}, [True], ["1"], [10**400], [[1.0]], 7)),
    *({"chunks": [{**CHUNK, **extra}]} for extra in ({"text": "\ud800"}, {"title": "\ud800"}, {"source": "\udfff"})),
    {"chunks": [Chunk(**{**CHUNK, "text": "\ud800"})]},
    {"entities": [{"id": "e", "name": "Orrin", "description": "\ud800"}]},
    *(
        {"entities": [{"id": "e", "name": "Orrin"}], "facts": [{"relation": "r", "chunk": "c", **fact}]}
        for fact in ({"id": "\ud800", "members": ["e", "e"]}, {"members": [{"entity": "e", "role": "\ud800"}, "e"]})
    ),
]


@pytest.mark.parametrize("wrong", RECORDS, ids=range(len(RECORDS)))
def test_a_record_that_cannot_be_written_is_named_by_its_line(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(RecordError, match=r"line 1: "):
        build_sidecar(tmp_path / "kb", **{"chunks": [CHUNK], **wrong})
    assert list(tmp_path.iterdir()) == []


def test_a_line_nested_too_deep_is_named(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": "c", "text": "x", "vector": ' + "[" * 100_000 + "}")
    with pytest.raises(RecordError, match=r"in.jsonl, line 1: is not JSON"):
        build_sidecar(tmp_path / "kb", chunks=tmp_path / "in.jsonl")


@pytest.mark.parametrize("length", [4000, 4001, 100_000])
def test_a_title_of_any_length_becomes_an_entity(tmp_path: Path, length: int) -> None:
    chunks = [{**CHUNK, "title": "T" * length}, {**CHUNK, "id": "d", "title": "T" * length + "U"}]
    path = build_sidecar(tmp_path / "kb", chunks=chunks, titles_as_entities=True).path
    assert verify_sidecar(path).rows["entity"] == 2
    with Sidecar.open(path) as sidecar:
        assert [entity.name for entity in sidecar.entities([0, 1])] == [chunk["title"] for chunk in chunks]


def test_a_word_longer_than_any_name_is_no_phrase(tmp_path: Path) -> None:
    text = "We met " + "X" * 5000 + " there, with Orrin."
    path = build_sidecar(tmp_path / "kb", chunks=[{"id": i, "text": text} for i in "cd"], discover=True).path
    with Sidecar.open(path) as sidecar:
        assert [entity.name for entity in sidecar.entities(range(sidecar.manifest.counts.entities))] == ["orrin"]


def test_a_role_of_any_script_is_kept(tmp_path: Path) -> None:
    facts = [
        {"id": "f\U0001f916", "relation": "r", "chunk": "c", "members": [{"entity": "e", "role": "\U0001f916"}, "e"]}
    ]
    entities = [{"id": "e", "name": "Orrin"}]
    path = build_sidecar(tmp_path / "kb", chunks=[CHUNK], entities=entities, facts=facts).path
    with Sidecar.open(path) as sidecar:
        fact = sidecar.facts([0])[0]
    assert (fact.id, fact.roles[0]) == ("f\U0001f916", "\U0001f916")
