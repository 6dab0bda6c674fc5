"""Publishing: one step, old readers undisturbed, nothing foreign overwritten, one input one snapshot."""

from __future__ import annotations

import gzip
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval import Chunk, Entity, Fact, Sidecar, build_sidecar, retrieve_evidence, verify_sidecar
from latence_retrieval.build import lists, spill
from latence_retrieval.errors import BuildError

QUESTION = "Who leads the owner of the foundry that casts the AX-100?"


def vectors(count: int, value: float) -> list[list[float]]:
    return [[value, 1.0 - value, 0.5, float(n)] for n in range(count)]


def test_a_target_that_exists_is_not_touched_unless_asked(base: Any, tmp_path: Path) -> None:
    target = base.build(tmp_path / "sidecar")
    before = {file.name: file.read_bytes() for file in target.iterdir()}
    with pytest.raises(BuildError, match="exists already"):
        base.build(target)
    assert {file.name: file.read_bytes() for file in target.iterdir()} == before


@pytest.mark.parametrize("replace", [False, True])
def test_what_is_no_sidecar_is_never_replaced(base: Any, tmp_path: Path, replace: bool) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "thesis.txt").write_text("the only copy")
    file = tmp_path / "file"
    file.write_text("precious")
    for target in (folder, file):
        with pytest.raises(BuildError):
            base.build(target, replace=replace)
    assert (folder / "thesis.txt").read_text() == "the only copy"
    assert file.read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["documents", "file"]


def test_an_empty_directory_is_used_when_replacing(base: Any, tmp_path: Path) -> None:
    (tmp_path / "sidecar").mkdir()
    verify_sidecar(base.build(tmp_path / "sidecar", replace=True))


def test_parents_are_made_and_nothing_temporary_stays(base: Any, tmp_path: Path) -> None:
    target = base.build(tmp_path / "deep" / "er" / "sidecar")
    assert [path.name for path in target.parent.iterdir()] == ["sidecar"]
    assert sorted(path.name for path in target.iterdir()) == ["kv.sqlite", "manifest.json"]


def test_an_open_reader_keeps_the_old_snapshot_whole(base: Any, tmp_path: Path) -> None:
    options = {"chunk_vectors": vectors(9, 0.25), "entity_vectors": vectors(7, 0.75)}
    target = base.build(tmp_path / "sidecar", **options)
    embedding = [0.1, 0.2, 0.3, 0.4]
    expected = retrieve_evidence(QUESTION, sidecar=target, embedding=embedding)
    with Sidecar.open(target) as old:  # nothing of its vectors has been read yet
        changed = {"chunk_vectors": vectors(9, 0.9)[::-1], "entity_vectors": vectors(7, 0.1)[::-1]}
        base.build(target, replace=True, **changed)
        assert retrieve_evidence(QUESTION, sidecar=old, embedding=embedding) == expected
        fresh = retrieve_evidence(QUESTION, sidecar=target, embedding=embedding)
    assert fresh.snapshot_id != expected.snapshot_id
    assert fresh.work != expected.work or fresh.ranking != expected.ranking
    assert [path.name for path in tmp_path.iterdir()] == ["sidecar"]


def test_a_failed_replacement_leaves_the_old_snapshot(base: Any, tmp_path: Path) -> None:
    target = base.build(tmp_path / "sidecar")
    before = verify_sidecar(target)
    base.chunks.append({"id": "c-orrin", "text": "again"})
    with pytest.raises(Exception, match="twice"):
        base.build(target, replace=True)
    assert verify_sidecar(target) == before
    assert [path.name for path in tmp_path.iterdir()] == ["sidecar"]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no symbolic links here")
def test_a_link_to_a_sidecar_goes_on_pointing_at_the_published_one(base: Any, tmp_path: Path) -> None:
    real = base.build(tmp_path / "v1")
    link = tmp_path / "current"
    link.symlink_to(real)
    base.entities.append({"id": "e-new", "name": "Newcomer"})
    report = build_sidecar(link, chunks=base.chunks, entities=base.entities, facts=base.facts, replace=True)
    assert link.is_symlink()
    assert verify_sidecar(link).snapshot_id == report.manifest.snapshot_id
    assert sorted(path.name for path in tmp_path.iterdir()) == ["current", "v1"]


def as_lines(records: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def test_files_gzip_iterables_and_records_give_one_snapshot(base: Any, tmp_path: Path) -> None:
    ids = {base.build(tmp_path / "lists").name: verify_sidecar(tmp_path / "lists").snapshot_id}
    for name, records in (("entities", base.entities), ("chunks", base.chunks), ("facts", base.facts)):
        (tmp_path / f"{name}.jsonl").write_text(as_lines(records), encoding="utf-8")
        (tmp_path / f"{name}.jsonl.gz").write_bytes(gzip.compress(as_lines(records).encode()))
        (tmp_path / f"{name}.crlf.jsonl").write_bytes(
            b"\xef\xbb\xbf" + as_lines(records).replace("\n", "\r\n").encode()
        )
    for ending in ("jsonl", "jsonl.gz", "crlf.jsonl"):
        sources = {name: tmp_path / f"{name}.{ending}" for name in ("entities", "chunks", "facts")}
        ids[ending] = build_sidecar(tmp_path / ending, **sources).manifest.snapshot_id
    ids["records"] = build_sidecar(
        tmp_path / "records",
        chunks=(Chunk.model_validate(record) for record in base.chunks),
        entities=[Entity.model_validate(record) for record in base.entities],
        facts=tuple(Fact.model_validate(record) for record in base.facts),
    ).manifest.snapshot_id
    assert len(set(ids.values())) == 1, ids


def test_sorting_in_files_gives_the_same_snapshot(base: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"discover": True, "titles_as_entities": True}
    expected = verify_sidecar(base.build(tmp_path / "memory", **options)).snapshot_id
    runs: Counter[str] = Counter()

    def count_spills(kind: type[Any]) -> None:
        spilled = kind._spill

        def counted(self: Any) -> None:
            runs[kind.__name__] += 1
            spilled(self)

        monkeypatch.setattr(kind, "_spill", counted)

    for kind in (spill.SpillSorter, lists.SpilledLists, lists.SpilledRows):
        count_spills(kind)
    monkeypatch.setattr(spill, "_ROW_OVERHEAD_BYTES", 1 << 20)  # a row seems to hold 1 MiB: runs of a few rows
    monkeypatch.setattr(lists, "_KEY_BYTES", 1 << 20)
    assert verify_sidecar(base.build(tmp_path / "files", max_memory_mb=16, **options)).snapshot_id == expected
    assert min(runs[kind.__name__] for kind in (spill.SpillSorter, lists.SpilledLists, lists.SpilledRows)) > 2, runs


def test_the_snapshot_id_follows_the_content(base: Any, tmp_path: Path) -> None:
    seen = {
        base.build(tmp_path / name, **options).joinpath("manifest.json").read_text().split('"snapshot_id": "')[1][:32]
        for name, options in {
            "plain": {},
            "again": {},
            "tenant": {"tenant": "acme"},
            "model": {"embedding_model": "m"},
            "vectors": {"chunk_vectors": vectors(9, 0.5)},
        }.items()
    }
    assert len(seen) == 4


def test_input_order_changes_numbers_and_nothing_else(base: Any, tmp_path: Path) -> None:
    first = base.build(tmp_path / "a")
    base.chunks.reverse()
    base.entities.reverse()
    second = base.build(tmp_path / "b")
    left, right = (Sidecar.open(path).manifest.counts for path in (first, second))
    assert left == right
