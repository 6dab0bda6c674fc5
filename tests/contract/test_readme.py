"""The README's code, commands and links hold as they are written."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/sidecar-format.md", "eval/README.md"]


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


def test_the_first_python_block_prints_what_the_next_block_shows(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", _blocks("python")[0]], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.stderr == ""
    assert ran.stdout == _blocks("text")[0]


def test_the_first_python_block_is_about_ten_lines():
    assert len(_blocks("python")[0].splitlines()) <= 14


def test_plain_word_search_ranks_first_what_the_readme_says(tmp_path, monkeypatch):
    from latence_retrieval import Sidecar
    from latence_retrieval.cli.plain_search import rank_lexically

    monkeypatch.chdir(tmp_path)
    exec(_blocks("python")[0], {})
    question = re.search(r'retrieve_evidence\("([^"]+)"', README)
    with Sidecar.open("sidecar") as sidecar:
        assert rank_lexically(sidecar, question.group(1))[0].id == "c3"


def test_the_second_python_block_is_python():
    compile(_blocks("python")[1], "README.md", "exec")


@pytest.mark.parametrize(
    "command", [line for block in _blocks("sh") for line in block.replace("\\\n", "").splitlines()]
)
def test_every_option_in_a_shell_block_exists(command, capsys):
    from latence_retrieval.cli import main

    _, _, arguments = command.partition("latence-retrieval ")
    if not arguments:
        return
    verb = arguments.split()[0]
    main([verb, "--help"])
    usage = capsys.readouterr().out
    assert all(option in usage for option in re.findall(r"(?<!\S)--[a-z-]+", arguments))


def test_ci_runs_both_commands_as_they_stand():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    commands = [line for line in README.splitlines() if line.startswith("python3 -m venv")]
    assert [command.rpartition("/")[2] for command in commands] == ["latence-retrieval demo", "pytest"]
    assert "readme_command" in script


def test_the_harness_s_markers_stand_once_in_order():
    assert README.count("<!-- eval:begin -->") == README.count("<!-- eval:end -->") == 1
    assert README.index("<!-- eval:begin -->") < README.index("<!-- eval:end -->")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_within_the_project_lead_somewhere(name):
    document = ROOT / name
    targets = re.findall(r"\]\(([^)#\s]+)", document.read_text(encoding="utf-8"))
    missing = [target for target in targets if "://" not in target and not (document.parent / Path(target)).exists()]
    assert missing == []


def test_every_extra_of_the_readme_s_table_is_declared_and_the_other_way_round():
    import tomllib

    declared = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    table = README[README.index("| extra |") : README.index('`pip install ".[lmdb,numpy]"`')]
    told = set(
        re.findall(r"`([a-z0-9]+)`", "\n".join(line.split("|")[1] for line in table.splitlines() if "|" in line))
    )
    assert told == declared - {"dev", "eval", "prepare"}


def test_documented_record_fields_are_those_of_the_models():
    from latence_retrieval.records import Chunk, Entity, Fact, Relation

    text = (ROOT / "docs" / "sidecar-format.md").read_text(encoding="utf-8")
    for model, heading in (
        (Chunk, "### Chunks"),
        (Entity, "### Entities"),
        (Fact, "### Facts"),
        (Relation, "### Relations"),
    ):
        section = text[text.index(heading) :].split("\n### ")[0]
        rows = "\n".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
        told = set(re.findall(r"`(\w+)`", rows)) - {"vector", "entity_id"}
        assert told == set(model.model_fields), heading
        required = set(re.findall(r"^\| `(\w+)`[^|]*\| required", section, flags=re.MULTILINE))
        assert required == {name for name, field in model.model_fields.items() if field.is_required()}, heading


def test_documented_examples_are_valid_records():
    from latence_retrieval.records import Chunk, Entity, Fact

    text = (ROOT / "docs" / "sidecar-format.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```json\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    for model, example in zip((Chunk, Entity, Fact), examples, strict=True):
        assert model.model_validate_json(example)
