from __future__ import annotations

import gzip
import json
from pathlib import Path

from latence_retrieval import Sidecar, build_sidecar
from latence_retrieval.cli.exits import ExitCode

SAMPLE = Path(__file__).resolve().parents[3] / "src" / "latence_retrieval" / "cli" / "sample"


def test_build_publishes_and_says_what(run, tmp_path, sample_arguments):
    ran = run("build", tmp_path / "s", *sample_arguments, "--tenant", "acme", "--quiet")
    assert ran.code == 0
    assert ran.err == ""
    assert "93 chunks" in ran.out
    with Sidecar.open(tmp_path / "s", tenant="acme") as sidecar:
        assert sidecar.manifest.counts.chunks == 93


def test_bundled_records_and_their_files_give_one_snapshot(run, tmp_path, sample_arguments, published):
    run("build", tmp_path / "s", *sample_arguments)
    with Sidecar.open(tmp_path / "s") as built, Sidecar.open(published) as bundled:
        assert built.manifest.snapshot_id == bundled.manifest.snapshot_id


def test_json_reports_the_manifest(run, tmp_path, sample_arguments):
    ran = run("build", tmp_path / "s", *sample_arguments, "--json", "--quiet")
    told = json.loads(ran.out)
    assert told["path"] == str(tmp_path / "s")
    assert told["manifest"]["counts"]["entities"] == 98


def test_progress_is_plain_lines_where_there_is_no_terminal(run, tmp_path, sample_arguments):
    ran = run("build", tmp_path / "s", *sample_arguments)
    assert "chunks: 93" in ran.err
    assert "\r" not in ran.err
    assert "\x1b" not in ran.err


def test_a_bad_record_names_its_file_and_line_and_publishes_nothing(run, tmp_path):
    records = tmp_path / "chunks.jsonl"
    records.write_text('{"id": "a", "text": "one"}\n{"id": "b"}\n')
    ran = run("build", tmp_path / "s", "--chunks", records, "--quiet")
    assert ran.code == ExitCode.BAD_INPUT
    assert ran.err.startswith(f"error: {records}, line 2: field text")
    assert not (tmp_path / "s").exists()


def test_an_existing_target_is_left_alone_unless_replace(run, tmp_path):
    records = tmp_path / "chunks.jsonl.gz"
    records.write_bytes(gzip.compress(b'{"id": "a", "title": "One", "text": "one"}\n'))
    build = ("build", tmp_path / "s", "--chunks", records, "--titles-as-entities", "--quiet")
    assert run(*build).code == 0
    assert run(*build).code == ExitCode.BAD_INPUT
    assert run(*build, "--replace").code == 0


def test_a_missing_input_is_bad_input(run, tmp_path):
    ran = run("build", tmp_path / "s", "--chunks", tmp_path / "none.jsonl", "--quiet")
    assert ran.code == ExitCode.BAD_INPUT
    assert "none.jsonl" in ran.err


def test_an_unknown_backend_is_bad_input(run, tmp_path, sample_arguments):
    ran = run("build", tmp_path / "s", *sample_arguments, "--backend", "paper", "--quiet")
    assert ran.code == ExitCode.BAD_INPUT
    assert "paper" in ran.err


def test_vectors_of_too_few_rows_are_bad_input(run, tmp_path, sample_arguments, one_row_npy):
    ran = run("build", tmp_path / "s", *sample_arguments, "--chunk-vectors", one_row_npy, "--quiet")
    assert ran.code == ExitCode.BAD_INPUT
    assert "chunk_vectors" in ran.err


def test_titles_and_phrases_make_entities(run, tmp_path):
    records = tmp_path / "chunks.jsonl"
    texts = ["The harbour of Old Merrow is deep.", "Ships leave Old Merrow at noon.", "Nobody lives in Old Merrow."]
    records.write_text(
        "".join(json.dumps({"id": str(n), "title": f"Title {n}", "text": text}) + "\n" for n, text in enumerate(texts))
    )
    run("build", tmp_path / "s", "--chunks", records, "--titles-as-entities", "--discover", "--quiet")
    ran = run("inspect", tmp_path / "s", "--entity", "Old Merrow")
    assert ran.code == 0
    assert "discovered" in ran.out


def test_no_link_finds_no_mention(run, tmp_path, sample_arguments):
    linked = json.loads(run("build", tmp_path / "a", *sample_arguments, "--json", "--quiet").out)
    bare = json.loads(run("build", tmp_path / "b", *sample_arguments, "--no-link", "--json", "--quiet").out)
    assert bare["manifest"]["counts"]["mentions"] < linked["manifest"]["counts"]["mentions"]


def test_demo_refuses_to_overwrite(run, published):
    ran = run("demo", "--keep", published)
    assert ran.code == ExitCode.BAD_INPUT
    assert "exists already" in ran.err


def test_every_stage_tells_its_begin_and_its_end(tmp_path):
    told = []
    build_sidecar(
        tmp_path / "s", chunks=SAMPLE / "chunks.jsonl", entities=SAMPLE / "entities.jsonl", progress=_teller(told)
    )
    stages = list(dict.fromkeys(stage for stage, _, _ in told))
    assert "tables" in stages
    for stage in stages:
        calls = [(done, finished) for name, done, finished in told if name == stage]
        assert calls[0] == (0, False)
        assert [finished for _, finished in calls].count(True) == 1
        assert calls[-1][1]


def _teller(told):
    return lambda stage, done, finished: told.append((stage, done, finished))
