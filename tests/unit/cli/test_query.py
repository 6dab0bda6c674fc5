from __future__ import annotations

import io
import json

import pytest

from latence_retrieval import EvidenceResult, retrieve_evidence
from latence_retrieval.cli.exits import ExitCode

QUESTION = "In which town are the rings of SB-118 pressed?"


def test_query_shows_the_matched_words_underlined_and_the_chain(run, published):
    ran = run("query", published, QUESTION)
    assert ran.code == 0
    lines = ran.out.splitlines()
    question = next(at for at, line in enumerate(lines) if QUESTION in line)
    start = lines[question].index("SB-118")
    assert lines[question + 1] == " " * start + "^" * len("SB-118")
    assert any("[c-039]" in line and "SB-118" in line for line in lines)
    assert "\x1b" not in ran.out


def test_json_is_the_result_and_round_trips(run, published):
    ran = run("query", published, QUESTION, "--json", "--budget-tokens", 300, "-k", 5)
    expected = retrieve_evidence(QUESTION, sidecar=published, budget_tokens=300, k=5)
    assert EvidenceResult.model_validate_json(ran.out) == expected


def test_prompt_is_exactly_the_packed_text(run, published):
    ran = run("query", published, QUESTION, "--prompt")
    assert ran.out == retrieve_evidence(QUESTION, sidecar=published).to_prompt() + "\n"


def test_explain_is_the_result_in_words(run, published):
    ran = run("query", published, QUESTION, "--explain")
    assert ran.out == retrieve_evidence(QUESTION, sidecar=published).explain() + "\n"


def test_nothing_packed_is_exit_code_one(run, published):
    assert run("query", published, QUESTION, "--budget-tokens", 0).code == ExitCode.NOTHING
    assert run("query", published, QUESTION, "-k", 0).code == ExitCode.NOTHING


def test_a_question_over_several_lines_is_shown(run, published):
    assert run("query", published, "Who makes\nthe AX-100?").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        (" ",),
        (QUESTION, "-k", "-1"),
        (QUESTION, "--budget-tokens", "many"),
        (QUESTION, "--tier", "crystal-ball"),
        (QUESTION, "--tier", "crystal-ball=here"),
        (QUESTION, "--embedding", "/no/such/file.json"),
        (QUESTION, "--first-stage", "/no/such/file.jsonl"),
        (QUESTION, "--json", "--prompt"),
    ],
)
def test_a_wrong_argument_is_bad_input(run, published, arguments):
    ran = run("query", published, *arguments)
    assert ran.code == ExitCode.BAD_INPUT
    assert "error: " in ran.err
    assert "Traceback" not in ran.err


def test_a_sidecar_that_is_not_there_is_unusable(run, tmp_path):
    ran = run("query", tmp_path / "none", QUESTION)
    assert ran.code == ExitCode.UNUSABLE
    assert ran.err.startswith(f"error: {tmp_path / 'none'}")
    assert ran.err.count("\n") == 1


def test_another_tenant_s_sidecar_is_unusable(run, small_vectors):
    assert run("query", small_vectors, "Who owns Velden?", "--tenant", "acme").code == 0
    assert run("query", small_vectors, "Who owns Velden?", "--tenant", "other").code == ExitCode.UNUSABLE
    assert run("query", small_vectors, "Who owns Velden?", "--embedding-model", "other").code == ExitCode.UNUSABLE


def test_first_stage_hits_come_as_ids_pairs_or_objects(run, published, tmp_path):
    hits = tmp_path / "hits.jsonl"
    hits.write_text('["c-091", 9.5]\n\n{"id": "c-001", "score": 8}\n{"chunk_id": "c-002", "score": 7.5}\n')
    result = EvidenceResult.model_validate_json(run("query", published, QUESTION, "--json", "--first-stage", hits).out)
    expected = retrieve_evidence(
        QUESTION, sidecar=published, first_stage=[("c-091", 9.5), ("c-001", 8.0), ("c-002", 7.5)]
    )
    assert result == expected


def test_first_stage_hits_come_from_standard_input(run, published, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO('"c-091"\n'))
    result = EvidenceResult.model_validate_json(run("query", published, QUESTION, "--json", "--first-stage", "-").out)
    assert result == retrieve_evidence(QUESTION, sidecar=published, first_stage=["c-091"])


@pytest.mark.parametrize(
    "line",
    ["[1, 2]", '{"score": 1}', '["a", "b"]', "{", "null", '["a", true]', f'["a", 1{"0" * 400}]', "[" * 100_000],
    ids=range(8),
)
def test_a_first_stage_line_of_another_shape_names_its_place(run, published, tmp_path, line):
    hits = tmp_path / "hits.jsonl"
    hits.write_text(f'"c-001"\n{line}\n')
    ran = run("query", published, QUESTION, "--first-stage", hits)
    assert ran.code == ExitCode.BAD_INPUT
    assert f"{hits}, line 2" in ran.err


def test_an_embedding_comes_as_npy_or_json(run, small_vectors, one_row_npy, tmp_path):
    as_json = tmp_path / "embedding.json"
    as_json.write_text(json.dumps([1.0] + [0.0] * 15))
    from_json = run("query", small_vectors, "Who?", "--json", "--embedding", as_json)
    from_npy = run("query", small_vectors, "Who?", "--json", "--embedding", one_row_npy)
    one_axis = tmp_path / "axis.npy"
    one_axis.write_bytes(one_row_npy.read_bytes().replace(b"(1, 16)", b"(16,)  "))
    from_one_axis = run("query", small_vectors, "Who?", "--json", "--embedding", one_axis)
    assert from_json.out == from_npy.out == from_one_axis.out
    assert EvidenceResult.model_validate_json(from_json.out).anchors[0].tier == "ann"


def test_an_array_of_another_shape_is_told_what_is_wrong(run, small_vectors, one_row_npy, tmp_path):
    path = tmp_path / "two.npy"
    path.write_bytes(one_row_npy.read_bytes().replace(b"(1, 16)", b"(2, 8) "))
    ran = run("query", small_vectors, "Who?", "--embedding", path)
    assert ran.code == ExitCode.BAD_INPUT
    assert f"--embedding {path}: has shape (2, 8); save one vector" in ran.err


@pytest.mark.parametrize("content", ["{}", "[]x", '["a"]', "[true]", "[[1], [2]]", f"[1{'0' * 400}]", "[" * 100_000])
def test_an_embedding_of_another_shape_is_bad_input(run, small_vectors, tmp_path, content):
    path = tmp_path / "embedding.json"
    path.write_text(content)
    ran = run("query", small_vectors, "Who?", "--embedding", path)
    assert ran.code == ExitCode.BAD_INPUT
    assert str(path) in ran.err


def test_an_embedding_of_another_dimension_is_bad_input(run, small_vectors, tmp_path):
    path = tmp_path / "embedding.json"
    path.write_text("[1.0, 2.0]")
    assert run("query", small_vectors, "Who?", "--embedding", path).code == ExitCode.BAD_INPUT


def test_tiers_are_chosen_by_name(run, published):
    ran = run("query", published, QUESTION, "--tier", "alias", "--json")
    assert [record["tier"] for record in json.loads(ran.out)["tiers"]] == ["alias"]
