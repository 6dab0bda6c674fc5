"""The README block, its staleness check, and the page in a real browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from tiny_set import ROOT

from eval.cli import main
from eval.report.markdown import BEGIN, END
from eval.report.page import render_page
from eval.report.plots import cost_plot, quality_plot, size_plot, token_plot
from eval.report.readme import stale_parts, update_readme
from eval.report.sizes import bench_sizes
from eval.report.svg import log_ticks, spread
from eval.results import read_details, read_results

pytest.importorskip("numpy")

COMMITTED = ROOT / "eval" / "results" / "main.json"
SYSTEMS = "dense,bm25,linearrag-style"


@pytest.fixture
def results(make_set: Callable[..., Path], tmp_path: Path) -> Path:
    pytest.importorskip("igraph")
    path = tmp_path / "r.json"
    code = main(
        [
            "run",
            "--data",
            str(make_set()),
            "--sets",
            "tiny",
            "--systems",
            SYSTEMS,
            "--out",
            str(path),
            "--cache",
            str(tmp_path / "cache"),
        ]
    )
    assert code == 0
    return path


def test_readme_block_is_written_between_its_markers_and_then_fresh(results: Path, tmp_path: Path) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"# Title\n\n{BEGIN}\nold\n{END}\n\nAfter.\n")
    assert len(stale_parts(readme, results)) == 2
    update_readme(readme, results)
    text = readme.read_text()
    assert text.startswith("# Title\n\n")
    assert text.endswith(f"{END}\n\nAfter.\n")
    assert "| bm25 |" in text
    assert "(r.svg)" in text
    assert stale_parts(readme, results) == []
    assert main(["report", str(results), "--readme", str(readme), "--check"]) == 0


def test_an_edited_figure_is_stale(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(f"{BEGIN}\n{END}\n")
    update_readme(readme, results)
    readme.write_text(re.sub(r"\d+\.\d /", "99.9 /", readme.read_text(), count=1))
    assert [path.name for path in stale_parts(readme, results)] == ["README.md"]
    assert main(["report", str(results), "--readme", str(readme), "--check"]) == 2
    assert "stale: README.md" in capsys.readouterr().err


def test_readme_without_markers_is_refused(results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("# Title\n")
    assert main(["report", str(results), "--readme", str(readme)]) == 2
    assert BEGIN in capsys.readouterr().err


@pytest.mark.skipif(not COMMITTED.is_file(), reason="no results are committed yet")
def test_readme_says_what_the_committed_results_say() -> None:
    assert stale_parts(ROOT / "README.md", COMMITTED) == [], (
        f"run `python -m eval report {COMMITTED.relative_to(ROOT)}`"
    )


@pytest.mark.skipif(not COMMITTED.is_file(), reason="no results are committed yet")
def test_committed_results_are_small_and_hold_no_question() -> None:
    assert COMMITTED.stat().st_size < 400_000
    assert "details" not in json.loads(COMMITTED.read_text())


def test_plots_are_well_formed_and_name_every_system(results: Path) -> None:
    loaded = read_results(results)
    drawn = [
        quality_plot(loaded),
        token_plot(loaded, "tiny"),
        cost_plot(loaded, "tiny"),
        size_plot({"bm25": [(10.0, 1.0), (1000.0, 2.0)]}),
    ]
    for canvas in drawn:
        ET.fromstring(canvas.render(standalone=True))
    for canvas in drawn[:3]:
        assert all(f">{name}<" in canvas.render() for name in SYSTEMS.split(","))


def test_labels_are_spread_without_losing_their_order() -> None:
    places = spread([10.0, 11.0, 50.0], gap=13.0)
    assert places[1] - places[0] >= 13.0
    assert places[2] > places[1]


def test_logarithmic_ticks_enclose_the_range() -> None:
    assert log_ticks(0.3, 40.0) == [0.1, 1.0, 10.0, 100.0]
    assert log_ticks(1.0, 1.0) == [1.0, 10.0]


def test_latency_by_size_comes_from_the_bench(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = {f"{size} lmdb structural": {"median_ms": ms} for size, ms in ((1_000_000, 1.5), (10_000, 1.2))}
    bench = tmp_path / "bench.json"
    bench.write_text(json.dumps({"cells": cells, "pagerank": {"10000": {"median_ms": 40.0}, "1000000": None}}))
    assert bench_sizes(bench) == {
        "lmdb structural": [(10_000.0, 1.2), (1_000_000.0, 1.5)],
        "pagerank-style": [(10_000.0, 40.0)],
    }
    page = tmp_path / "page.html"
    assert main(["report", str(results), "--html", str(page), "--bench", str(bench)]) == 0
    assert "Latency against corpus size" in page.read_text()
    assert main(["report", str(results), "--html", str(page), "--bench", str(results)]) == 2
    assert "is no report of the bench" in capsys.readouterr().err


def test_page_loads_nothing_from_elsewhere(results: Path) -> None:
    page = render_page(read_results(results), read_details(results))
    assert not re.search(r"""(?:src|href)=["'](?!#|data:,)""", page)
    assert "@import" not in page
    assert not re.search(r"url\(", page)


def test_page_without_details_says_so(results: Path) -> None:
    assert "per-question rows are not beside" in render_page(read_results(results))


def test_question_that_holds_markup_cannot_break_out_of_the_page(results: Path) -> None:
    details = read_details(results)
    assert details is not None
    details["sets"]["tiny"]["questions"][0]["text"] = "</script><img src=x onerror=boom()>"
    page = render_page(read_results(results), details)
    assert "</script><img" not in page


def _browser() -> str:
    for name in ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        found = shutil.which(name)
        if found:
            return found
    pytest.skip("no Chromium is installed; apt-get install chromium")


PROBE = """
<script>
try {
  const report = {};
  const heading = document.querySelector("table.sortable th:nth-child(3) button");
  const values = () => [...document.querySelectorAll("table.sortable")][0].tBodies[0].rows;
  heading.click();
  report.down = [...values()].map((row) => Number(row.cells[2].dataset.value));
  heading.click();
  report.up = [...values()].map((row) => Number(row.cells[2].dataset.value));
  document.getElementById("system").value = "linearrag-style";
  document.getElementById("system").dispatchEvent(new Event("change"));
  report.listed = document.querySelectorAll("details.question").length;
  const first = document.querySelector("details.question");
  first.open = true; first.dispatchEvent(new Event("toggle"));
  report.mark = first.querySelector("mark")?.textContent;
  report.sections = [...first.querySelectorAll("h3")].map((item) => item.textContent);
  const box = document.getElementById("text");
  box.value = "red canyon"; box.dispatchEvent(new Event("input"));
  report.filtered = document.querySelectorAll("details.question").length;
  report.plots = document.querySelectorAll("svg").length;
  document.title = "PROBE " + JSON.stringify(report);
} catch (error) { document.title = "FAILED " + error; }
</script>
"""


def test_page_sorts_filters_and_opens_questions_in_a_browser(results: Path, tmp_path: Path) -> None:
    browser = _browser()
    page = render_page(read_results(results), read_details(results)).replace("</body>", PROBE + "</body>")
    path = tmp_path / "page.html"
    path.write_text(page, encoding="utf-8")
    command = [
        browser,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        f"--user-data-dir={tmp_path / 'profile'}",
        "--dump-dom",
        path.as_uri(),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    title = re.search(r"<title>(.*?)</title>", done.stdout, re.DOTALL)
    assert title is not None, done.stderr[-2000:]
    assert title.group(1).startswith("PROBE "), title.group(1)
    report = json.loads(title.group(1).removeprefix("PROBE ").replace("&amp;", "&"))
    assert report["down"] == sorted(report["down"], reverse=True)
    assert report["up"] == sorted(report["up"])
    assert report["listed"] == 3
    assert report["mark"] == "Blue Harbour"
    assert {"Gold passages", "Anchors", "First passages"} <= set(report["sections"])
    assert report["filtered"] == 1
    assert report["plots"] == 3
