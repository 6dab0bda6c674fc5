"""The GLiNER tier over a real checkpoint, offline."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval.errors import InvalidInputError, MissingExtraError, ModelError
from latence_retrieval.ports.entry_tier import EntryTier
from latence_retrieval_gliner import GlinerTier


def test_constructing_imports_neither_torch_nor_gliner() -> None:
    code = (
        "import sys\n"
        "from latence_retrieval_gliner import GlinerTier\n"
        "GlinerTier(model='/nowhere')\n"
        "print({'torch', 'gliner', 'transformers', 'huggingface_hub'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_it_fits_its_port() -> None:
    assert isinstance(GlinerTier(model="x"), EntryTier)


@pytest.mark.parametrize(
    ("options", "argument"), [({"model": ""}, "model"), ({"model": "x", "labels": [""]}, "labels")]
)
def test_an_unusable_argument_is_named(options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        GlinerTier(**options)
    assert caught.value.argument == argument


def test_an_absent_package_is_the_install_line(monkeypatch: pytest.MonkeyPatch, make_request: Any) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtraError, match=r"latence-retrieval\[gliner\]"):
        GlinerTier(model="x").enter(make_request("Who?"))


def test_spans_are_half_open_flat_and_typed_and_relations_absent(tiny_checkpoint: Path, make_request: Any) -> None:
    query = "Who founded Acme Works in Paris?"
    outcome = GlinerTier(model=tiny_checkpoint, span_threshold=0.01).enter(make_request(query))
    assert outcome.relations is None
    assert outcome.unlinked
    for span in outcome.unlinked:
        assert query[span.start : span.end] == span.text
        assert span.label in {"company", "person"}
        assert 0.0 <= span.confidence <= 1.0
    for left, right in zip(outcome.unlinked, outcome.unlinked[1:], strict=False):
        assert left.end <= right.start


def test_known_spans_link(tiny_checkpoint: Path, make_request: Any) -> None:
    query = "Who founded Acme Works?"
    tier = GlinerTier(model=tiny_checkpoint, span_threshold=0.01)
    names = [span.text for span in tier.enter(make_request(query)).unlinked]
    outcome = tier.enter(make_request(query, aliases=names))
    assert len(outcome.links) == len(names)
    assert not outcome.unlinked


@pytest.mark.parametrize("query", ["word " * 5000, "x" * 20_000, "<<ENT>> <<SEP>> [SEP]", "\u200b\u0301 \x00", "日本"])
def test_hostile_queries_are_bounded(tiny_checkpoint: Path, make_request: Any, query: str) -> None:
    outcome = GlinerTier(model=tiny_checkpoint).enter(make_request(query, types=tuple(f"type {i}" for i in range(99))))
    assert any("32 of 99 entity labels" in note for note in outcome.notes)


def test_a_long_query_is_cut_and_noted(tiny_checkpoint: Path, make_request: Any) -> None:
    outcome = GlinerTier(model=tiny_checkpoint).enter(make_request("word " * 500))
    assert any("first 192 words" in note for note in outcome.notes)


def test_eight_threads_share_one_load_and_agree(tiny_checkpoint: Path, make_request: Any) -> None:
    tier = GlinerTier(model=tiny_checkpoint, span_threshold=0.01)
    loads: list[int] = []
    original = tier.checkpoint._load
    tier.checkpoint._load = lambda path: loads.append(1) or original(path)  # type: ignore[func-returns-value]
    answers: list[Any] = []

    def work() -> None:
        for _ in range(4):
            spans = tier.enter(make_request("Who founded Acme Works in Paris?")).unlinked
            answers.append([(s.start, s.end, s.label, round(s.confidence, 4)) for s in spans])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]
    assert len(answers) == 32
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("name", ["gliner_config.json", "model.safetensors"])
def test_a_damaged_checkpoint_is_one_error_that_names_the_argument(
    tiny_checkpoint: Path, tmp_path: Path, name: str
) -> None:
    shutil.copytree(tiny_checkpoint, tmp_path / "copy")
    weights = [
        p for p in (tmp_path / "copy").iterdir() if p.name == name or (name.startswith("model") and p.suffix == ".bin")
    ]
    for file in weights:
        file.unlink()
    with pytest.raises(ModelError, match="model="):
        GlinerTier(model=tmp_path / "copy").warm_up()


@pytest.mark.parametrize("model", ["/no/such/directory", "owner/never-cached"])
def test_a_missing_checkpoint_is_one_error(tiny_checkpoint: Path, model: str) -> None:
    with pytest.raises(ModelError, match="model="):
        GlinerTier(model=model).warm_up()
