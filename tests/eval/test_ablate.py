"""Searches over settings: one idea at a time, and fits; and how the pages show them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_set import ROOT

from eval.cli import main
from eval.config import EvalConfig
from eval.ideas import IDEAS, idea_of
from eval.report.blocks import RESULTS_PAGE, block_markers, has_block
from eval.report.readme import page_of, stale_parts, update_readme
from eval.results import read_results
from eval.systems.names import apply_overrides, parse_name

pytest.importorskip("numpy")

MakeSet = Callable[..., Path]
COMMITTED = sorted(path for path in (ROOT / "eval" / "results").glob("*.json") if path.stem != "main")
CHANGES = ("coverage=0", "walk.max_hops=1;weights.translated=0")


def _arguments(command: str, data: Path, tmp_path: Path, out: Path, *extra: str) -> list[str]:
    where = ["--data", str(data), "--sets", "tiny", "--cache", str(tmp_path / "cache"), "--out", str(out)]
    return [command, *where, *extra]


@pytest.fixture
def ablation(make_set: MakeSet, tmp_path: Path) -> Path:
    out = tmp_path / "ablation.json"
    changes = [part for change in CHANGES for part in ("--change", change)]
    assert main(_arguments("ablate", make_set(), tmp_path, out, *changes)) == 0
    return out


def test_each_default_idea_changes_settings_that_exist() -> None:
    from latence_retrieval.settings import Settings

    plain = Settings().model_dump(mode="json")
    for idea in IDEAS:
        changed = apply_overrides(plain, parse_name(f"tier1[{idea.change}]").settings)
        assert Settings.model_validate(changed) != Settings(), idea.name
    assert len({idea.change for idea in IDEAS}) == len({idea.name for idea in IDEAS}) == len(IDEAS)
    assert idea_of("some.path=1") == "some.path=1"


def test_ablation_holds_each_change_against_the_system_unchanged(ablation: Path) -> None:
    found = read_results(ablation)
    assert found["system"] == "tier1"
    assert list(found["metrics"]["tiny"]) == ["tier1"]
    assert list(found["ablation"]["tiny"]) == list(CHANGES)
    value = found["ablation"]["tiny"]["coverage=0"]["recall@5"]
    assert value["n"] == 3
    assert value["low"] <= value["delta"] <= value["high"]
    assert "test_half" in value


def test_a_search_asks_the_library_once_a_question(make_set: MakeSet, monkeypatch: pytest.MonkeyPatch) -> None:
    from eval.cache import Cache
    from eval.data import load_set
    from eval.systems.base import Bench
    from eval.systems.latence import Latence

    folder = make_set()
    data = load_set(folder, "tiny")
    bench = Bench(data=data, config=EvalConfig().quick(), cache=Cache(folder.parent / "cache"))
    system = Latence(parse_name("tier1"))
    system.prepare(bench)
    asked: list[Any] = []
    call = system._call
    monkeypatch.setattr(system, "_call", lambda *args, **given: asked.append(given["k"]) or call(*args, **given))
    answer = system.answer(data.questions[0])
    assert asked == [10]
    assert list(answer.selections or {}) == [1024]


def test_fits_of_two_sets_stand_in_one_file(make_set: MakeSet, tmp_path: Path) -> None:
    out = tmp_path / "fit.json"
    data = make_set()
    make_set("other")
    arguments = _arguments("fit", data, tmp_path, out, "--grid", "coverage=0,0.5", "--confirm", "other")
    assert main(arguments) == 0
    arguments[arguments.index("tiny")] = "other"
    arguments[-1] = "tiny"
    assert main(arguments) == 0
    fits = read_results(out)["fits"]
    assert list(fits) == ["tiny", "other"]
    assert fits["tiny"]["fitted_on"] == ["tiny"]
    assert set(fits["tiny"]["confirmation"]) == {"tiny", "other"}
    assert fits["tiny"]["objective"] >= fits["tiny"]["objective_of_defaults"]


def test_results_page_shows_an_ablation_and_tells_when_it_is_stale(ablation: Path, tmp_path: Path) -> None:
    page = tmp_path / "RESULTS.md"
    begin, end = block_markers("ablation")
    page.write_text(f"# Results\n\n{begin}\n{end}\n\nAfter.\n")
    assert stale_parts(page, ablation) == [page]
    update_readme(page, ablation)
    text = page.read_text()
    assert "| an order that covers the question | `coverage=0` |" in text
    assert "| nothing |" in text
    assert text.endswith(f"{end}\n\nAfter.\n")
    assert main(["report", str(ablation), "--readme", str(page), "--check"]) == 0
    changed = json.loads(ablation.read_text())
    changed["ablation"]["tiny"]["coverage=0"]["recall@5"]["delta"] = -0.5
    ablation.write_text(json.dumps(changed))
    assert main(["report", str(ablation), "--readme", str(page), "--check"]) == 2


def test_page_shows_the_ablation_beside_the_systems(make_set: MakeSet, ablation: Path, tmp_path: Path) -> None:
    results, page = tmp_path / "r.json", tmp_path / "page.html"
    assert main(_arguments("run", make_set(), tmp_path, results, "--systems", "dense,bm25")) == 0
    assert main(["report", str(results), "--html", str(page), "--ablation", str(ablation)]) == 0
    text = page.read_text()
    assert "What leaving a part out does to tier 1" in text
    assert "an order that covers the question" in text
    assert main(["report", str(results), "--html", str(page)]) == 0
    assert "What leaving a part out does" not in page.read_text()


def test_systems_over_other_linkers_stand_beside_each_other(make_set: MakeSet, tmp_path: Path) -> None:
    out = tmp_path / "linkers.json"
    systems = "tier1,tier1@titles,tier1@openie,tier1@catalogue:one-hop[coverage=0]"
    assert main(_arguments("run", make_set(), tmp_path, out, "--systems", systems)) == 0
    results = read_results(out)
    assert list(results["metrics"]["tiny"]) == ["tier1", "tier1@titles", "tier1@catalogue:one-hop[coverage=0]"]
    assert "openie" in results["skipped"]["tiny"]["tier1@openie"]
    page = tmp_path / "RESULTS.md"
    page.write_text("\n".join(block_markers("linkers")))
    update_readme(page, out)
    assert "| `tier1@titles` |" in page.read_text()


def test_unknown_linker_is_refused_with_those_that_are_known(
    make_set: MakeSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(_arguments("run", make_set(), tmp_path, tmp_path / "r.json", "--systems", "tier1@words")) == 2
    assert "no linker is called 'words'; known: catalogue, titles" in capsys.readouterr().err


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_results_page_says_what_the_committed_results_say(path: Path) -> None:
    if not has_block(RESULTS_PAGE, path.stem):
        pytest.skip("no page shows this file")
    assert page_of(path) == RESULTS_PAGE
    assert stale_parts(RESULTS_PAGE, path) == [], f"run `python -m eval report {path.relative_to(ROOT)}`"
    assert path.stat().st_size < 300_000
