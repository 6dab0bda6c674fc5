"""A question set in the one shape that the harness works on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

__all__ = ["EvalSet", "GoldAnchor", "Passage", "Question", "Triple", "Vectors"]

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Passage:
    """One passage of the corpus."""

    id: str
    title: str
    text: str

    @property
    def packed(self) -> str:
        """The text as a prompt would carry it, and as it was embedded: title, line break, text."""
        return f"{self.title}\n{self.text}" if self.title else self.text


@dataclass(frozen=True, slots=True)
class Question:
    """One question with what is known about its evidence.

    Attributes:
        gold_ids: the passages that a full answer rests on.
        hops: the same passages in the order of the reasoning, where the set says it; else empty.
        evidences: (subject, relation, object) triples of the reasoning; else empty.
        row: where its vector stands in `Vectors.queries`: the line of the file it came from.
    """

    id: str
    text: str
    gold_ids: tuple[str, ...]
    row: int
    type: str | None = None
    answer: str | None = None
    hops: tuple[str, ...] = ()
    evidences: tuple[Triple, ...] = ()
    context_ids: tuple[str, ...] = ()
    source: str | None = None
    split: str | None = None

    @property
    def hop_count(self) -> int:
        """How many passages the reasoning passes through."""
        return len(self.hops) or len(self.gold_ids)


@dataclass(frozen=True, slots=True)
class GoldAnchor:
    """A gold passage whose subject the question names, at characters `start` to `end` (half-open)."""

    passage_id: str
    start: int
    end: int
    mention: str


@dataclass(frozen=True, slots=True)
class Vectors:
    """Unit rows in file order: one per question, one per passage, one per passage title.

    `model` and `content` are what `prepare` recorded: the model's name and the digest of the texts.
    """

    queries: Matrix
    chunks: Matrix
    entities: Matrix | None = None
    model: str | None = None
    content: str | None = None


@dataclass(frozen=True)
class EvalSet:
    """A question set.

    Attributes:
        anchors: question id to the gold passages that the question names; None where the set has no such
        labels. triples: passage id to extracted (subject, relation, object); empty where none were
        published. vectors: None where the set carries none and none were prepared. checksums: file name to
        sha256 of every file that was read. notes: what the loader had to leave out, in words.
    """

    name: str
    path: Path
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]
    anchors: Mapping[str, tuple[GoldAnchor, ...]] | None = None
    triples: Mapping[str, tuple[Triple, ...]] = field(default_factory=dict)
    vectors: Vectors | None = None
    checksums: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property
    def row_of(self) -> Mapping[str, int]:
        """Passage id to its row."""
        return {passage.id: row for row, passage in enumerate(self.passages)}

    @cached_property
    def passage_of(self) -> Mapping[str, Passage]:
        """Passage id to passage."""
        return {passage.id: passage for passage in self.passages}

    def describe(self) -> dict[str, Any]:
        """Return what a results file says about the set."""
        return {
            "path": self.path.name,
            "passages": len(self.passages),
            "questions": len(self.questions),
            "vectors": None if self.vectors is None else (self.vectors.model or "as shipped"),
            "checksums": dict(self.checksums),
            "notes": list(self.notes),
        }


def first_questions(questions: Sequence[Question], limit: int | None) -> tuple[Question, ...]:
    """Return the first `limit` questions, or all."""
    return tuple(questions if limit is None else questions[:limit])
