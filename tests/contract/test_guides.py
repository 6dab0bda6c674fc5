"""The guides' first programs run as they stand and print what the guides say."""

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from latence_retrieval.entities import Retriever
from latence_retrieval.memory.entity_store import MemoryEntityStore
from latence_retrieval.records import Entity

DOCS = Path(__file__).resolve().parents[2] / "docs"


def first_program(guide):
    return re.search(r"```python\n(.*?)```", (DOCS / guide).read_text(encoding="utf-8"), re.DOTALL).group(1)


def output_of(program):
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


@pytest.mark.parametrize(
    ("guide", "first", "last"),
    [
        (
            "retrieve-entities.md",
            r"Charles Babbage: 0\.0328 semantic=0\.9\d+ lexical=0\.96\d+",
            "Ada Lovelace by alias: Augusta Ada King",
        ),
        ("retrieve-chunks.md", r"notes#0: 0\.0328 semantic=0\.7\d+ lexical=0\.63\d+", "['letters#0']"),
    ],
)
def test_the_program_of_a_guide_runs(guide, first, last):
    lines = output_of(first_program(guide))
    assert re.fullmatch(first, lines[0]), lines
    assert lines[-1] == last


@pytest.mark.parametrize(
    ("query", "is_found"),
    [
        ("ada LOVELACE", True),
        ("Ada Lovelace", True),
        ("Ada Lovelace, Countess", True),
        ("Lovelace", True),
        ("Lovelace, Ada", True),
        ("Ada Lovelase", True),
        ("Adda Lovelace", True),
        ("When was Ada Lovelace born?", True),
        ("Augusta Ada King", True),
        ("what did lovelase write about engines and looms", False),
        ("the first programmer", False),
    ],
)
def test_the_guide_says_rightly_what_a_name_look_up_finds(query, is_found):
    assert query in (DOCS / "retrieve-entities.md").read_text(encoding="utf-8")
    store = MemoryEntityStore()
    ada = Entity(id="ada", name="Ada Lovelace", aliases=("Augusta Ada King",))
    asyncio.run(store.put_entities("museum", [ada]))
    result = asyncio.run(Retriever.lexical_only(entities=store).retrieve(query, "museum"))
    assert [match.entity.id for match in result.matches] == ["ada"] * is_found


def test_every_python_block_of_the_guides_compiles():
    for guide in sorted(DOCS.glob("retrieve-*.md")):
        for block in re.findall(r"```python\n(.*?)```", guide.read_text(encoding="utf-8"), re.DOTALL):
            # The shorter blocks await at top level, as a notebook would.
            compile(block, str(guide), "exec", flags=0x2000)
