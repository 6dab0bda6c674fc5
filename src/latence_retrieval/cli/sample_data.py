"""The sample knowledge base that the package carries: an invented industrial group, and questions about it."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from latence_retrieval.build import BuildReport, build_sidecar

__all__ = ["SampleQuestion", "build_sample", "sample_questions"]


class SampleQuestion(BaseModel):
    """A question with what a reader who knows the sample by heart would answer.

    Attributes:
        answer: in words.
        hops: how many passages must be joined, along one line.
        gold: the passages of the whole way.
        answering: those of them that hold the answer.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    question: str
    answer: str
    hops: int
    gold: tuple[str, ...]
    answering: tuple[str, ...]


def build_sample(target: Path) -> BuildReport:
    """Build the sample's sidecar at `target`, over SQLite, without vectors.

    Raises:
        BuildError: the target exists already.
    """
    return build_sidecar(
        target,
        chunks=_records("chunks.jsonl"),
        entities=_records("entities.jsonl"),
        facts=_records("facts.jsonl"),
        relations=_records("relations.jsonl"),
    )


@cache
def sample_questions() -> tuple[SampleQuestion, ...]:
    """Return the sample's questions, in order."""
    return tuple(SampleQuestion.model_validate(record) for record in _records("questions.jsonl"))


def _records(name: str) -> list[dict[str, Any]]:
    text = files("latence_retrieval.cli").joinpath("sample", name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines() if line.strip()]
