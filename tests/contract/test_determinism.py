"""Equal calls give equal bytes: across processes, stores, numpy or none, threads, and orders of input."""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from latence_retrieval import Settings, Sidecar, build_sidecar, plugins, retrieve_evidence, verify_sidecar
from latence_retrieval.settings import WalkSettings
from latence_retrieval.vectors import NUMPY_SWITCH

SCRIPT = """
import json, sys
from latence_retrieval import retrieve_evidence
for line in sys.stdin:
    call = json.loads(line)
    print(retrieve_evidence(**call).model_dump_json())
"""


def _shared() -> ModuleType:
    spec = importlib.util.spec_from_file_location("shared_bases", Path(__file__).parent.parent / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["shared_bases"] = module
    spec.loader.exec_module(module)
    return module


shared = _shared()

needs_lmdb = pytest.mark.skipif(
    "ready" not in {info.state for info in plugins.discover() if info.name == "kv.lmdb"},
    reason="the lmdb extra is not installed",
)


def calls(sidecar: Path, questions: list[str]) -> list[dict[str, Any]]:
    """Return calls with and without vectors, a first stage and a tight budget."""
    asked = []
    for at, question in enumerate(questions):
        call: dict[str, Any] = {"query": question, "sidecar": str(sidecar), "k": 20}
        if at % 2 == 0:
            call["embedding"] = shared.hashed_vector(question)
        if at % 3 == 0:
            call["first_stage"] = [["c-039", 0.9], ["c-001", 0.7], ["elsewhere", 0.6]]
        if at % 4 == 0:
            call["budget_tokens"] = 200
        asked.append(call)
    return asked


def answers(asked: list[dict[str, Any]]) -> list[str]:
    return [retrieve_evidence(**call).model_dump_json() for call in asked]


def answers_elsewhere(asked: list[dict[str, Any]], **environment: str) -> list[str]:
    """Return the answers of a process of its own."""
    lines = "".join(json.dumps(call) + "\n" for call in asked)
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=lines,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONUTF8": "1", **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_processes_with_other_hash_seeds_answer_alike(sample: Path, questions: list[str]) -> None:
    asked = calls(sample, questions)
    expected = answers(asked)
    for seed in ("1", "4242"):
        assert answers_elsewhere(asked, PYTHONHASHSEED=seed) == expected


def test_a_build_in_a_process_with_another_hash_seed_is_the_same_snapshot(sample: Path, tmp_path: Path) -> None:
    script = (
        "import importlib.util, sys; from pathlib import Path\n"
        "spec = importlib.util.spec_from_file_location('shared', sys.argv[1])\n"
        "shared = importlib.util.module_from_spec(spec); sys.modules['shared'] = shared; spec.loader.exec_module(shared)\n"
        "shared.build_sample(Path(sys.argv[2]), discover=True)\n"
    )
    ids = set()
    for seed in ("1", "77"):
        target = tmp_path / seed
        subprocess.run(
            [sys.executable, "-c", script, str(Path(__file__).parent.parent / "conftest.py"), str(target)],
            check=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": seed},
        )
        ids.add(verify_sidecar(target).snapshot_id)
    assert len(ids) == 1


def test_numpy_changes_no_byte(sample: Path, questions: list[str]) -> None:
    pytest.importorskip("numpy")
    asked = calls(sample, questions)
    assert answers_elsewhere(asked, **{NUMPY_SWITCH: "0"}) == answers(asked)


@needs_lmdb
def test_sqlite_and_lmdb_answer_with_the_same_bytes(sample: Path, questions: list[str], tmp_path: Path) -> None:
    other = shared.build_sample(tmp_path / "lmdb", backend="lmdb")
    assert verify_sidecar(other).snapshot_id == verify_sidecar(sample).snapshot_id
    assert answers(calls(other, questions)) == answers(calls(sample, questions))


@needs_lmdb
def test_sqlite_and_lmdb_answer_alike_on_real_questions(evaluation_data: Path, tmp_path: Path) -> None:
    numpy = pytest.importorskip("numpy")
    folder = evaluation_data / "2wiki_pooled"
    if not folder.is_dir():
        pytest.skip("no 2wiki_pooled in the evaluation data")
    with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as stream:
        chunks = [json.loads(next(stream)) for _ in range(250)]
    with gzip.open(folder / "queries.jsonl.gz", "rt", encoding="utf-8") as stream:
        questions = [json.loads(line)["question"] for line in stream]
    with numpy.load(folder / "vectors.npz") as vectors:
        chunk_rows, title_rows, query_rows = (vectors[name] for name in ("chunks", "entities", "queries"))
    paths = [
        build_sidecar(
            tmp_path / backend,
            chunks=chunks,
            titles_as_entities=True,
            discover=True,
            chunk_vectors=chunk_rows[:250].astype(float).tolist(),
            title_vectors=title_rows[:250].astype(float).tolist(),
            backend=backend,
        ).path
        for backend in ("sqlite", "lmdb")
    ]
    for at in range(0, len(questions), 80):
        embedding = query_rows[at].astype(float).tolist()
        left, right = (
            retrieve_evidence(questions[at], sidecar=path, embedding=embedding).model_dump_json() for path in paths
        )
        assert left == right


@pytest.mark.parametrize(("fixture", "calls_each"), [("small_vectors", 50), ("sample", 10)])
def test_threads_answer_as_one_does(
    request: pytest.FixtureRequest, questions: list[str], fixture: str, calls_each: int
) -> None:
    path: Path = request.getfixturevalue(fixture)
    asked = calls(path, [*questions, "Who leads the owner of the foundry that casts the AX-100?", "Where is Lumen?"])
    expected = answers(asked)
    order = [at % len(asked) for at in range(8 * calls_each)]
    with Sidecar.open(path) as kept, ThreadPoolExecutor(8) as pool:
        for sidecar in (str(path), kept):
            found = pool.map(
                lambda at, one=sidecar: retrieve_evidence(**{**asked[at], "sidecar": one}).model_dump_json(), order
            )
            assert list(found) == [expected[at] for at in order]


def test_an_open_snapshot_answers_as_one_that_is_opened_per_call(sample: Path, questions: list[str]) -> None:
    with Sidecar.open(sample) as kept:
        for call in calls(sample, questions):
            assert retrieve_evidence(**{**call, "sidecar": kept}) == retrieve_evidence(**call)


def told(result: Any) -> Any:
    """Return what must not depend on the numbers that the input's order gives.

    A tie at a limit on work (the fifth and sixth seed) is cut by number, so utilities may differ far behind the point.
    """
    return (
        [chunk.chunk_id for chunk in result.ranking],
        [
            (anchor.entity_id, round(anchor.weight, 9), [other.entity_id for other in anchor.passed_over])
            for anchor in result.anchors
        ],
        [selected.chunk.id for selected in result.selection.chunks],
    )


@pytest.mark.parametrize("has_vectors", [True, False])
def test_the_order_of_the_input_changes_no_ranking(
    sample: Path, questions: list[str], tmp_path: Path, has_vectors: bool
) -> None:
    entities = shared.with_vectors(shared.read_lines("entities.jsonl"), lambda entity: entity["name"])
    turned = shared.build_sample(
        tmp_path / "turned", chunks=shared.read_lines("chunks.jsonl")[::-1], entities=entities[::-1]
    )
    for question in questions:
        embedding = shared.hashed_vector(question) if has_vectors else None
        left, right = (retrieve_evidence(question, sidecar=path, embedding=embedding, k=5) for path in (sample, turned))
        assert told(left) == told(right)


def test_equal_scores_are_ordered_by_ascending_id(tmp_path: Path) -> None:
    ids = ["m", "b", "zz", "a", "k", "Z", "10", "9", "é"]
    expected = sorted(ids)
    settings = Settings(
        walk=WalkSettings(first_stage_share=0.0, sure_weight=0.0)
    )  # its seeds would tell some of the twins apart
    for order in (ids, ids[::-1], sorted(ids)):
        target = tmp_path / "-".join(order)
        chunks = [{"id": name, "text": "The same words about Orrin stand here.", "about": ["e"]} for name in order]
        names = [{"id": "e", "name": "Orrin"}, *({"id": f"twin-{name}", "name": "Velden"} for name in order)]
        build_sidecar(target, chunks=chunks, entities=names)
        result = retrieve_evidence("Where is Orrin?", sidecar=target, k=20, settings=settings)
        assert [chunk.chunk_id for chunk in result.ranking] == expected
        assert len({chunk.utility for chunk in result.ranking}) == 1
        cut = retrieve_evidence("Where is Orrin?", sidecar=target, k=4, settings=settings)
        assert [chunk.chunk_id for chunk in cut.ranking] == expected[:4]
        twins = retrieve_evidence("Where is Velden?", sidecar=target)
        assert [anchor.entity_id for anchor in twins.anchors] == [f"twin-{name}" for name in expected]
        first = twins.anchors[0]
        assert [other.entity_id for other in first.passed_over] == [f"twin-{name}" for name in expected[1:9]]
