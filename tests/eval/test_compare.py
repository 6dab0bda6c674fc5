"""Comparing results files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from eval.cli import main
from eval.compare import compare_files, comparison_lines
from eval.errors import HarnessError
from eval.fit import parse_grid
from eval.halves import DEV, half_of

pytest.importorskip("numpy")


@pytest.fixture
def results(make_set: Callable[..., Path], tmp_path: Path) -> Path:
    path = tmp_path / "r.json"
    main(
        [
            "run",
            "--data",
            str(make_set()),
            "--sets",
            "tiny",
            "--systems",
            "dense,bm25",
            "--out",
            str(path),
            "--cache",
            str(tmp_path / "cache"),
        ]
    )
    return path


def test_a_file_against_itself_differs_nowhere(results: Path) -> None:
    found = compare_files(results, results)
    assert found["tiny"]["bm25"]["metrics"]["recall@5"]["delta"] == 0.0
    assert found["tiny"]["bm25"]["metrics"]["recall@5"]["p"] == 1.0
    assert found["tiny"]["bm25"]["worse"] == []


def test_two_systems_are_compared_question_by_question(results: Path) -> None:
    found = compare_files(results, results, systems=["dense=bm25"])["tiny"]["dense → bm25"]
    deltas = found["metrics"]["recall@2"]
    assert deltas["better"] + deltas["worse"] <= deltas["n"] == 3
    assert any("recall@2" in line for line in comparison_lines({"tiny": {"x": found}}))


def test_missing_details_are_asked_for(results: Path) -> None:
    results.with_name("r.details.json.gz").unlink()
    with pytest.raises(HarnessError, match="details file is missing"):
        compare_files(results, results)


def test_unknown_system_is_named(results: Path) -> None:
    with pytest.raises(HarnessError, match="tier9"):
        compare_files(results, results, systems=["tier9"])


def test_development_half_is_fixed_by_the_id_and_near_a_half() -> None:
    halves = [half_of(f"question-{number}") == DEV for number in range(2000)]
    assert 900 < sum(halves) < 1100
    assert half_of("question-1") == half_of("question-1")


def test_grid_reads_numbers_and_words() -> None:
    assert parse_grid(["walk.max_pushes=50,100", "mode=a,b"]) == {
        "walk.max_pushes": (50, 100),
        "mode": ("a", "b"),
    }
    with pytest.raises(HarnessError, match="cannot be read"):
        parse_grid(["walk"])
