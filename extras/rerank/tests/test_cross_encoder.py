"""The cross-encoder reranker over real checkpoints, offline."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval.errors import InvalidInputError, MissingExtraError, ModelError
from latence_retrieval.ports.reranker import Reranker
from latence_retrieval_rerank import CrossEncoderReranker

PASSAGES = ("red apples grow here", "blue boats sail there", "green frogs jump far")
QUESTIONS = ("red apples", "blue boats", "green frogs")


def test_constructing_imports_neither_torch_nor_sentence_transformers() -> None:
    code = (
        "import sys\n"
        "from latence_retrieval_rerank import CrossEncoderReranker\n"
        "CrossEncoderReranker(model='/nowhere')\n"
        "print({'torch', 'sentence_transformers', 'transformers', 'huggingface_hub'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_it_fits_its_port() -> None:
    assert isinstance(CrossEncoderReranker(model="x"), Reranker)


def test_the_model_is_required() -> None:
    with pytest.raises(TypeError, match="model"):
        CrossEncoderReranker()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"model": " "}, "model"),
        ({"model": "x", "batch_size": 0}, "batch_size"),
        ({"model": "x", "max_tokens": 0}, "max_tokens"),
    ],
)
def test_an_unusable_argument_is_named(options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        CrossEncoderReranker(**options)
    assert caught.value.argument == argument


def test_the_passage_that_belongs_to_the_question_scores_highest(cross_encoder: Path) -> None:
    reranker = CrossEncoderReranker(model=cross_encoder)
    for i, question in enumerate(QUESTIONS):
        scores = reranker.rerank_scores(question, PASSAGES)
        assert len(scores) == 3
        assert max(range(3), key=scores.__getitem__) == i


def test_scores_do_not_depend_on_the_batch_or_the_order(cross_encoder: Path) -> None:
    whole = CrossEncoderReranker(model=cross_encoder).rerank_scores("red apples", PASSAGES)
    single = CrossEncoderReranker(model=cross_encoder, batch_size=1).rerank_scores("red apples", PASSAGES[::-1])
    assert list(single[::-1]) == pytest.approx(list(whole), abs=1e-5)


def test_no_passages_need_no_model() -> None:
    assert CrossEncoderReranker(model="/nowhere").rerank_scores("red apples", []) == []


def test_a_long_passage_is_cut_rather_than_refused(cross_encoder: Path) -> None:
    scores = CrossEncoderReranker(model=cross_encoder).rerank_scores("red apples", ["red apples " * 5000, ""])
    assert len(scores) == 2


def test_a_classifier_over_several_labels_is_refused(classifier: Path) -> None:
    with pytest.raises(ModelError, match="3 scores"):
        CrossEncoderReranker(model=classifier).warm_up()


@pytest.mark.parametrize("model", ["/no/such/directory", "owner/never-cached"])
@pytest.mark.usefixtures("installed")
def test_a_missing_checkpoint_is_one_error_that_names_the_argument(model: str) -> None:
    with pytest.raises(ModelError, match="model="):
        CrossEncoderReranker(model=model).rerank_scores("q", ["p"])


@pytest.mark.usefixtures("installed")
def test_an_incomplete_checkpoint_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="model="):
        CrossEncoderReranker(model=tmp_path).warm_up()


def test_eight_threads_share_one_load_and_agree(cross_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []
    reranker = CrossEncoderReranker(model=cross_encoder)
    original = reranker.checkpoint._load
    monkeypatch.setattr(reranker.checkpoint, "_load", lambda path: loads.append(1) or original(path))
    answers: list[list[float]] = []
    threads = [
        threading.Thread(target=lambda: answers.append(list(reranker.rerank_scores("blue boats", PASSAGES))))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]
    assert len(answers) == 8
    assert all(answer == pytest.approx(answers[0], abs=1e-5) for answer in answers)


@pytest.mark.parametrize("package", ["torch", "sentence_transformers"])
def test_an_absent_package_is_the_install_line(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"latence-retrieval\[rerank\]"):
        CrossEncoderReranker(model="x").rerank_scores("q", ["p"])
