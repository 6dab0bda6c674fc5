"""A set in its authors' own form gives the recall that it gives in the compact form."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from author_formats import WRITERS
from tiny_set import ROOT, write_lines

from eval.cli import main
from eval.data import load_set
from eval.data.records import EvalSet
from eval.results import read_results

pytest.importorskip("numpy")

DATA = Path(os.environ.get("LATENCE_EVAL_DATA", ROOT.parent / "shared" / "data"))
SYSTEMS = "bm25,tier1"
FORMS = {
    "2wiki_pooled": ("context-json", "hipporag-pair", "beir-folder"),
    "hotpotqa_pooled": ("context-json", "hipporag-pair", "beir-folder"),
    "musique_pooled": ("musique-lines", "hipporag-pair", "beir-folder"),
}
SLICE = 5
"""Questions of a real set that are asked, over their own passages."""


def _measured(folder: Path, name: str, cache: Path) -> dict[str, dict[str, float]]:
    out = cache / f"{name}.json"
    where = ["--data", str(folder), "--sets", name, "--cache", str(cache), "--out", str(out)]
    assert main(["run", *where, "--systems", SYSTEMS]) == 0
    metrics = read_results(out)["metrics"][name]
    return {
        system: {
            metric: value for metric, value in found.items() if metric.startswith(("recall@", "all_gold@", "ndcg"))
        }
        for system, found in metrics.items()
    }


def _write_compact(data: EvalSet, folder: Path, name: str) -> None:
    write_lines(
        folder / name / "corpus.jsonl.gz",
        [{"id": item.id, "title": item.title, "text": item.text} for item in data.passages],
    )
    write_lines(
        folder / name / "queries.jsonl.gz",
        [{"id": item.id, "question": item.text, "gold_ids": list(item.gold_ids)} for item in data.questions],
    )


def _slice(data: EvalSet, asked: int) -> EvalSet:
    questions = data.questions[:asked]
    kept = {passage for item in questions for passage in (*item.context_ids, *item.gold_ids)}
    passages = tuple(item for item in data.passages if item.id in kept)
    return replace(data, questions=questions, passages=passages, vectors=None)


@pytest.mark.parametrize("form", WRITERS)
def test_tiny_set_gives_the_same_recall_in_every_form(make_set: Callable[..., Path], tmp_path: Path, form: str) -> None:
    folder = make_set(vectors=False, anchors=False)
    data = load_set(folder, "tiny")
    WRITERS[form](data, tmp_path, "again")
    cache = tmp_path / "cache"
    assert _measured(tmp_path, "again", cache) == _measured(folder, "tiny", cache)


@pytest.mark.parametrize("name", FORMS)
def test_slice_of_a_public_set_gives_the_same_recall_in_its_authors_forms(tmp_path: Path, name: str) -> None:
    if not (DATA / name).is_dir():
        pytest.skip("the question sets are not here")
    data = _slice(load_set(DATA, name), SLICE)
    _write_compact(data, tmp_path, "compact")
    cache = tmp_path / "cache"
    expected = _measured(tmp_path, "compact", cache)
    for form in FORMS[name]:
        WRITERS[form](data, tmp_path, form)
        loaded = load_set(tmp_path, form)
        assert {(item.title, " ".join(item.text.split())) for item in loaded.passages} == {
            (item.title, " ".join(item.text.split())) for item in data.passages
        }
        assert [len(item.gold_ids) for item in loaded.questions] == [len(item.gold_ids) for item in data.questions]
        assert _measured(tmp_path, form, cache) == expected, form
