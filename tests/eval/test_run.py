"""The command that others script against: arguments, files, exit codes, resumption."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_set import ROOT

from eval.cache import Cache
from eval.cli import main
from eval.errors import HarnessError
from eval.results import read_details, read_results
from eval.systems.names import apply_overrides, parse_name, split_names

pytest.importorskip("numpy")

MakeSet = Callable[..., Path]


def _run(data: Path, tmp_path: Path, *extra: str, sets: str = "tiny", systems: str = "dense,bm25") -> int:
    arguments = [
        "run",
        "--data",
        str(data),
        "--sets",
        sets,
        "--systems",
        systems,
        "--out",
        str(tmp_path / "r.json"),
    ]
    return main([*arguments, "--cache", str(tmp_path / "cache"), *extra])


def test_run_writes_metrics_per_set_and_system(make_set: MakeSet, tmp_path: Path) -> None:
    assert _run(make_set(), tmp_path, systems="dense,bm25,rrf") == 0
    results = json.loads((tmp_path / "r.json").read_text())
    assert list(results["metrics"]["tiny"]) == ["dense", "bm25", "rrf"]
    bm25 = results["metrics"]["tiny"]["bm25"]
    assert {
        "recall@2",
        "recall@5",
        "recall@10",
        "all_gold@5",
        "ndcg@10",
        "mrr",
        "r_precision",
        "evidence@1024",
    } <= set(bm25)
    assert all(0.0 <= value <= 1.0 for value in bm25.values())
    assert results["sets"]["tiny"]["checksums"]["corpus.jsonl.gz"]
    assert results["config"]["seed"]
    assert results["machine"]["cores"]
    assert results["versus_dense"]["tiny"]["bm25"]["recall@5"]["n"] == 3


def test_run_works_as_a_module_from_the_project_root(make_set: MakeSet, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "eval",
        "run",
        "--data",
        str(make_set()),
        "--sets",
        "tiny",
        "--systems",
        "bm25",
        "--out",
        str(tmp_path / "out" / "r.json"),
        "--cache",
        str(tmp_path / "cache"),
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert read_results(tmp_path / "out" / "r.json")["metrics"]["tiny"]["bm25"]


def test_systems_that_need_vectors_are_skipped_in_plain_words(
    make_set: MakeSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(make_set(vectors=False), tmp_path, systems="dense,bm25,rrf") == 0
    results = read_results(tmp_path / "r.json")
    assert list(results["metrics"]["tiny"]) == ["bm25"]
    assert "no vectors.npz" in results["skipped"]["tiny"]["dense"]
    assert "tiny: dense is skipped: tiny has no vectors.npz" in capsys.readouterr().err


def test_nothing_measured_is_an_error(make_set: MakeSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(make_set(vectors=False), tmp_path, systems="dense") == 2
    assert "nothing was measured" in capsys.readouterr().err


def test_second_run_reads_its_measurements_from_the_cache(make_set: MakeSet, tmp_path: Path) -> None:
    data = make_set()
    assert _run(data, tmp_path) == 0
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.json.gz")}
    first = read_results(tmp_path / "r.json")
    assert len(before) == 2
    assert _run(data, tmp_path) == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.json.gz")} == before
    second = read_results(tmp_path / "r.json")
    assert second["latency"] == first["latency"]
    assert _run(data, tmp_path, "--fresh") == 0
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cache").rglob("*.json.gz")} != before


def test_changed_data_is_measured_again(make_set: MakeSet, tmp_path: Path) -> None:
    assert _run(make_set(vectors=False), tmp_path, systems="bm25") == 0
    changed = make_set(queries=[{"id": "q", "question": "Dublin?", "gold_ids": ["f"]}], vectors=False)
    assert _run(changed, tmp_path, systems="bm25") == 0
    assert read_results(tmp_path / "r.json")["sets"]["tiny"]["questions_asked"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--systems", "nonsense"], "no system is called 'nonsense'"),
        (["--sets", "absent"], "no such set"),
    ],
)
def test_mistakes_are_explained_in_one_line(
    make_set: MakeSet, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    base = [
        "run",
        "--data",
        str(make_set()),
        "--sets",
        "tiny",
        "--systems",
        "bm25",
        "--out",
        str(tmp_path / "r.json"),
        "--cache",
        str(tmp_path / "cache"),
    ]
    assert main([*base, *arguments]) == 2
    printed = capsys.readouterr().err
    assert message in printed
    assert "Traceback" not in printed


def test_peers_answer_every_question_of_the_tiny_set(make_set: MakeSet, tmp_path: Path) -> None:
    pytest.importorskip("igraph")
    assert _run(make_set(), tmp_path, systems="hipporag2-style,linearrag-style,lightrag-style") == 0
    results = read_results(tmp_path / "r.json")
    assert set(results["metrics"]["tiny"]) == {"hipporag2-style", "linearrag-style", "lightrag-style"}
    assert results["errors"] == {}
    linear = results["metrics"]["tiny"]["linearrag-style"]
    assert linear["anchor_r"] == 1.0


def test_details_hold_one_row_a_question_and_system(make_set: MakeSet, tmp_path: Path) -> None:
    assert (
        _run(
            make_set(),
            tmp_path,
            systems="bm25",
        )
        == 0
    )
    details = read_details(tmp_path / "r.json")
    assert details is not None
    rows = details["sets"]["tiny"]["systems"]["bm25"]
    assert [row["id"] for row in rows] == ["q1", "q2", "q3"]
    assert rows[0]["ranks"]["a"] == rows[0]["top"].index("a") + 1


def test_damaged_cache_entry_is_measured_again(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.write("kind", {"a": 1}, [1, 2])
    assert cache.read("kind", {"a": 1}) == [1, 2]
    for path in tmp_path.rglob("*.json.gz"):
        path.write_bytes(path.read_bytes()[:10])
    assert cache.read("kind", {"a": 1}) is None
    assert cache.read("kind", {"a": 2}) is None


def test_names_carry_variants_and_settings() -> None:
    assert split_names("dense,tier1[a.b=1;c=true], bm25") == ["dense", "tier1[a.b=1;c=true]", "bm25"]
    name = parse_name("tier0+1:no-walk[walk.max_pushes=50;x=words]")
    assert (name.base, name.variant, name.settings) == (
        "tier0+1",
        "no-walk",
        {"walk.max_pushes": 50, "x": "words"},
    )
    with pytest.raises(HarnessError, match="cannot be read"):
        parse_name("tier1[")
    with pytest.raises(HarnessError, match="has no value"):
        parse_name("tier1[walk]")


def test_overrides_replace_nested_settings_and_refuse_unknown_paths() -> None:
    settings = {"walk": {"max_pushes": 100}, "max_ranked": 5}
    assert apply_overrides(settings, {"walk.max_pushes": 7}) == {"walk": {"max_pushes": 7}, "max_ranked": 5}
    assert settings["walk"]["max_pushes"] == 100  # type: ignore[index]
    with pytest.raises(HarnessError, match=r"'walk\.pushes'; there are: max_pushes"):
        apply_overrides(settings, {"walk.pushes": 7})
