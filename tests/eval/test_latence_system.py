"""The library behind the harness: sidecars, tiers, variants, linkers, and the same graph for the peers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_set import CORPUS, QUERIES, write_lines

from eval.ablate import DEFAULT_CHANGES
from eval.cache import Cache
from eval.cli import main
from eval.config import EvalConfig
from eval.data import load_set
from eval.errors import HarnessError
from eval.fit import DEFAULT_GRID
from eval.graph.linkers import linked_inputs
from eval.results import read_details, read_results
from eval.systems.base import Bench
from eval.systems.latence import VARIANTS
from eval.systems.names import apply_overrides, parse_name
from eval.systems.registry import parse_systems

pytest.importorskip("numpy")
pytest.importorskip("latence_retrieval.evidence")

MakeSet = Callable[..., Path]


def _run(data: Path, tmp_path: Path, systems: str, *extra: str) -> int:
    return main(
        [
            "run",
            "--data",
            str(data),
            "--sets",
            "tiny",
            "--systems",
            systems,
            "--out",
            str(tmp_path / "r.json"),
            "--cache",
            str(tmp_path / "cache"),
            *extra,
        ]
    )


def test_tiers_are_measured_with_anchors_chains_selection_and_stages(make_set: MakeSet, tmp_path: Path) -> None:
    assert _run(make_set(), tmp_path, "dense,tier0,tier1,tier0+1") == 0
    results = read_results(tmp_path / "r.json")
    assert results["errors"] == {}
    tier1 = results["metrics"]["tiny"]["tier1"]
    assert tier1["anchor_r"] == 1.0
    assert tier1["recall@10"] >= results["metrics"]["tiny"]["dense"]["recall@2"]
    assert {"chain_start", "chain_cover", "selection_share", "packed@1024", "evidence@256"} <= set(tier1)
    assert 0.0 < tier1["selection_share"] <= 1.0
    assert {"open", "entry", "walk", "selection"} <= set(results["latency"]["tiny"]["tier1"]["stages_ms"])
    assert results["latency"]["tiny"]["tier1"]["work"]["pushes"] > 0


def test_rows_tell_spans_of_anchors_and_witnesses_of_chains(make_set: MakeSet, tmp_path: Path) -> None:
    assert _run(make_set(), tmp_path, "tier1") == 0
    details = read_details(tmp_path / "r.json")
    assert details is not None
    row = details["sets"]["tiny"]["systems"]["tier1"][0]
    anchor = row["anchors"][0]
    assert QUERIES[0]["question"][anchor["start"] : anchor["end"]] == "Blue Harbour"
    assert anchor["passages"] == ["a"]
    assert any("a" in chain["witnesses"] for chain in row["chains"])


def test_tier1_runs_without_vectors_and_tier0_is_skipped(make_set: MakeSet, tmp_path: Path) -> None:
    assert _run(make_set(vectors=False), tmp_path, "tier0,tier1,tier0+1,tier1+2") == 0
    results = read_results(tmp_path / "r.json")
    assert set(results["metrics"]["tiny"]) == {"tier1", "tier0+1"}
    assert "no vectors" in results["skipped"]["tiny"]["tier0"]
    assert "--gliner2 DIR" in results["skipped"]["tiny"]["tier1+2"]


def test_settings_in_a_name_reach_the_library(make_set: MakeSet, tmp_path: Path) -> None:
    assert _run(make_set(), tmp_path, "tier1,tier1[max_chains=0]") == 0
    metrics = read_results(tmp_path / "r.json")["metrics"]["tiny"]
    assert metrics["tier1[max_chains=0]"]["chain_cover"] == 0.0 < metrics["tier1"]["chain_cover"]


def test_every_named_setting_is_one_that_the_library_has() -> None:
    from latence_retrieval.settings import Settings

    settings = Settings().model_dump(mode="json")
    changes = [parse_name(f"x[{change}]").settings for change in DEFAULT_CHANGES]
    for overrides in (*changes, *VARIANTS.values(), dict.fromkeys(DEFAULT_GRID, 0.5)):
        apply_overrides(settings, overrides)


def test_chunk_retriever_is_measured_in_each_mode(make_set: MakeSet, tmp_path: Path) -> None:
    assert _run(make_set(), tmp_path, "dense,chunks-semantic,chunks-lexical,chunks-hybrid") == 0
    results = read_results(tmp_path / "r.json")
    assert results["errors"] == {}
    metrics = results["metrics"]["tiny"]
    assert metrics["chunks-semantic"]["ndcg@10"] == pytest.approx(metrics["dense"]["ndcg@10"])
    assert metrics["chunks-lexical"]["recall@5"] == 1.0
    assert _run(make_set("bare", vectors=False), tmp_path, "chunks-hybrid,chunks-lexical", "--sets", "bare") == 0
    assert set(read_results(tmp_path / "r.json")["metrics"]["bare"]) == {"chunks-lexical"}


def test_unknown_setting_stops_the_run_and_lists_its_neighbours(
    make_set: MakeSet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(make_set(), tmp_path, "tier1[walk.nonsense=1]") == 2
    assert "max_hops" in capsys.readouterr().err


def test_unknown_variant_is_refused() -> None:
    with pytest.raises(HarnessError, match="no variant is called 'no-nothing'"):
        parse_systems("tier1:no-nothing")


def test_peers_walk_on_the_graph_of_the_sidecar(make_set: MakeSet, tmp_path: Path) -> None:
    bench = Bench(data=load_set(make_set(), "tiny"), config=EvalConfig(), cache=Cache(tmp_path / "cache"))
    graph = bench.graph
    assert graph.origin == "the library's sidecar"
    assert [graph.names[number] for number in graph.about[0]] == ["Blue Harbour (film)"]
    reyes = graph.names.index("Ana Reyes")
    assert graph.passages_of[reyes] == (0, 1, 4)
    assert graph.about_rows[reyes] == (1,)
    assert graph.vectors is not None
    assert graph.vectors.shape == (len(graph.names), 8)


def test_openie_triples_become_facts_between_titles_and_phrases(make_set: MakeSet, tmp_path: Path) -> None:
    folder = make_set()
    write_lines(
        folder / "tiny" / "openie_part.jsonl",
        [
            {
                "id": "a",
                "triples": [
                    ["Blue Harbour", "directed by", "Ana Reyes"],
                    ["Blue Harbour", "made in", "the year 1984"],
                    ["Blue Harbour", "is", "Blue Harbour"],
                ],
            },
            {"id": "unknown", "triples": [["x", "y", "z"]]},
        ],
    )
    inputs = linked_inputs(load_set(folder, "tiny"), "openie")
    assert [fact["members"] for fact in inputs["facts"]] == [
        ["title:Blue Harbour (film)", "title:Ana Reyes"],
        ["title:Blue Harbour (film)", "phrase:the year 1984"],
    ]
    assert _run(folder, tmp_path, "tier1", "--linker", "openie") == 0
    assert read_results(tmp_path / "r.json")["linker"] == "openie"


def test_linker_without_triples_says_what_is_missing(make_set: MakeSet) -> None:
    with pytest.raises(HarnessError, match="openie"):
        linked_inputs(load_set(make_set(), "tiny"), "openie")


def test_ablation_and_fit_write_what_they_tried(make_set: MakeSet, tmp_path: Path) -> None:
    base = ["--data", str(make_set()), "--sets", "tiny", "--cache", str(tmp_path / "cache"), "--system", "tier1"]
    assert main(["ablate", *base, "--change", "weights.translated=0", "--out", str(tmp_path / "a.json")]) == 0
    ablation = read_results(tmp_path / "a.json")["ablation"]["tiny"]
    assert set(ablation) == {"weights.translated=0"}
    assert main(["fit", *base, "--grid", "weights.lexical=0,0.1", "--out", str(tmp_path / "f.json")]) == 0
    fitted = read_results(tmp_path / "f.json")["fits"]["tiny"]
    assert len(fitted["tried"]) >= 3
    assert "tiny" in fitted["confirmation"]


def test_passages_without_titles_are_served(make_set: MakeSet, tmp_path: Path) -> None:
    bare = [{"id": row["id"], "text": row["text"]} for row in CORPUS]
    assert _run(make_set(corpus=bare, vectors=False), tmp_path, "bm25,tier1") == 0
    assert read_results(tmp_path / "r.json")["errors"] == {}
