"""Groups of questions that are reported apart."""

from __future__ import annotations

from collections.abc import Sequence

from eval.data.records import Question

__all__ = ["groups_of"]

EASY_SOURCE = "TTS-project"
"""Rows of this origin were chosen in a way that favours easy questions, so a figure over all rows
flatters."""


def groups_of(questions: Sequence[Question]) -> dict[str, list[int]]:
    """Return positions of the questions by `type:…`, `hops:…` and, where rows of it exist, `source:…`.

    A kind of group that would hold every question says nothing and is left out.
    """
    groups: dict[str, list[int]] = {}
    mixed = any(EASY_SOURCE in (question.source or "") for question in questions)
    for position, question in enumerate(questions):
        labels = [f"hops:{question.hop_count}"]
        if question.type:
            labels.append(f"type:{question.type}")
        if mixed:
            easy = EASY_SOURCE in (question.source or "")
            labels.append(f"source:{EASY_SOURCE}" if easy else "source:other")
        for label in labels:
            groups.setdefault(label, []).append(position)
    return {label: groups[label] for label in sorted(groups) if len(groups[label]) < len(questions)}
