from __future__ import annotations

import json
import shutil

from latence_retrieval.build.workspace import OWNER_NAME, workspace
from latence_retrieval.cli.exits import ExitCode
from latence_retrieval.cli.sample_data import build_sample
from latence_retrieval.plugins import PluginInfo, PluginState


def test_inspect_shows_the_manifest(run, published):
    ran = run("inspect", published)
    assert ran.code == 0
    assert "sqlite" in ran.out
    assert json.loads(run("inspect", published, "--json").out)["counts"]["chunks"] == 93


def test_inspect_finds_an_entity_by_id_or_by_any_of_its_names(run, published):
    by_id = run("inspect", published, "--entity", "product:ax100")
    by_name = run("inspect", published, "--entity", "ax 100")
    assert by_id.code == by_name.code == 0
    assert by_id.out == by_name.out
    assert "[product:ax100]" in by_id.out


def test_inspect_shows_every_bearer_of_a_name(run, published):
    told = json.loads(run("inspect", published, "--entity", "Kessler", "--json").out)
    assert {entity["id"] for entity in told} == {
        "org:kessler-hydraulik",
        "person:bertram-kessler",
        "person:isolde-kessler",
    }


def test_inspect_lists_facts_with_members_and_witness_up_to_the_limit(run, published):
    told = json.loads(run("inspect", published, "--entity", "org:kessler-hydraulik", "--json", "--limit", 2).out)[0]
    assert len(told["facts"]) == len(told["about"]) == len(told["mentioned_in"]) == 2
    assert told["degree"] > told["shown"] == 6
    assert "Kessler Hydraulik GmbH" in told["facts"][0]["members"]


def test_inspect_shows_a_chunk_with_its_entities(run, published):
    ran = run("inspect", published, "--chunk", "c-080")
    assert ran.code == 0
    assert "Sixty-two per cent" in ran.out
    assert "[org:amagiri]" in ran.out
    assert json.loads(run("inspect", published, "--chunk", "c-080", "--json").out)["about"] == ["org:torei"]


def test_what_is_not_there_is_exit_code_one(run, published):
    assert run("inspect", published, "--entity", "nobody at all").code == ExitCode.NOTHING
    assert run("inspect", published, "--chunk", "c-999").code == ExitCode.NOTHING
    assert json.loads(run("inspect", published, "--entity", "nobody", "--json").out) == []
    assert json.loads(run("inspect", published, "--chunk", "c-999", "--json").out) is None


def test_verify_says_that_a_sidecar_is_sound(run, published):
    ran = run("verify", published)
    assert ran.code == 0
    assert "sound" in ran.out
    assert json.loads(run("verify", published, "--json").out)["rows"]["chunk"] == 93


def test_verify_finds_one_altered_byte(run, published, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(published, copy)
    file = copy / "kv.sqlite"
    content = bytearray(file.read_bytes())
    content[-100] ^= 1
    file.chmod(0o644)
    file.write_bytes(content)
    ran = run("verify", copy)
    assert ran.code == ExitCode.UNUSABLE
    assert ran.err.startswith("error: ")
    assert "kv.sqlite" in ran.err


def test_what_a_build_that_did_not_end_left_is_told(run, tmp_path):
    target = build_sample(tmp_path / "sidecar").path
    for verb in ("verify", "inspect"):
        assert "did not end" not in run(verb, target).out
    with workspace(target) as left:
        record = (left / OWNER_NAME).read_text()
        for verb in ("verify", "inspect"):
            assert "did not end" not in run(verb, target).out, "its builder is alive"
    left.mkdir()
    (left / OWNER_NAME).write_text(record)
    for verb in ("verify", "inspect"):
        ran = run(verb, target)
        assert ran.code == ExitCode.DONE
        assert f"{left} is left of a build that did not end" in ran.out
    assert json.loads(run("verify", target, "--json").out)["unfinished_builds"] == [str(left)]


def test_a_directory_that_is_no_sidecar_is_unusable(run, tmp_path):
    for verb in ("verify", "inspect"):
        assert run(verb, tmp_path).code == ExitCode.UNUSABLE


def _plugin(name: str, state: PluginState, detail: str = "") -> PluginInfo:
    return PluginInfo(name=name, distribution="dist", version="1", state=state, detail=detail)


def test_plugins_lists_states_and_install_lines(run, monkeypatch):
    found = (_plugin("entry.x", PluginState.NEEDS_EXTRA, "pip install 'dist[x]'"), _plugin("kv.y", PluginState.READY))
    monkeypatch.setattr("latence_retrieval.cli.plugins.discover", lambda: found)
    ran = run("plugins")
    assert ran.code == 0
    assert "pip install 'dist[x]'" in ran.out
    assert [plugin["name"] for plugin in json.loads(run("plugins", "--json").out)] == ["entry.x", "kv.y"]


def test_a_broken_plugin_is_exit_code_one(run, monkeypatch):
    found = (_plugin("kv.y", PluginState.BROKEN, "it fell over"),)
    monkeypatch.setattr("latence_retrieval.cli.plugins.discover", lambda: found)
    ran = run("plugins")
    assert ran.code == ExitCode.NOTHING
    assert "it fell over" in ran.out


def test_no_plugin_at_all_is_said(run, monkeypatch):
    monkeypatch.setattr("latence_retrieval.cli.plugins.discover", tuple)
    assert run("plugins").out == "no plugin is installed\n"
