"""Writes a loaded set in the very forms in which the authors of public sets publish theirs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tiny_set import write_lines

from eval.data.records import EvalSet, Question

__all__ = ["WRITERS"]

_SENTENCE_END = re.compile(r"(?<=[.!?]) ")


def _contexts(data: EvalSet) -> dict[str, list[str]]:
    """Return per question the passages of its own row; every passage of the corpus stands in some row."""
    found = {item.id: list(dict.fromkeys([*item.context_ids, *item.gold_ids])) for item in data.questions}
    placed = {passage for row in found.values() for passage in row}
    rows = list(found.values())
    left = [passage.id for passage in data.passages if passage.id not in placed]
    for number, passage in enumerate(left):
        rows[number % len(rows)].append(passage)
    return found


def _sentences(text: str) -> list[str]:
    """Return sentences as HotpotQA has them: joined without anything between, they are the text."""
    parts = _SENTENCE_END.split(text)
    return [part if number == 0 else f" {part}" for number, part in enumerate(parts)]


def _context_row(question: Question, data: EvalSet, passages: list[str]) -> dict[str, Any]:
    titles = [data.passage_of[item].title for item in question.gold_ids]
    row: dict[str, Any] = {
        "_id": question.id,
        "type": question.type,
        "question": question.text,
        "context": [[data.passage_of[p].title, _sentences(data.passage_of[p].text)] for p in passages],
        "supporting_facts": [[title, 0] for title in titles],
        "answer": question.answer,
    }
    if question.evidences:
        row["evidences"] = [list(item) for item in question.evidences]
    return row


def _paragraph_row(question: Question, data: EvalSet, passages: list[str]) -> dict[str, Any]:
    return {
        "id": question.id,
        "paragraphs": [
            {
                "idx": place,
                "title": data.passage_of[passage].title,
                "paragraph_text": data.passage_of[passage].text,
                "is_supporting": passage in question.gold_ids,
            }
            for place, passage in enumerate(passages)
        ],
        "question": question.text,
        "question_decomposition": [
            {"id": number, "question": "", "answer": "", "paragraph_support_idx": passages.index(passage)}
            for number, passage in enumerate(question.hops)
        ],
        "answer": question.answer,
        "answer_aliases": [],
        "answerable": True,
    }


def write_context_json(data: EvalSet, folder: Path, name: str) -> None:
    """Write HotpotQA's and 2WikiMultihopQA's JSON: ten passages a row, sentence by sentence."""
    rows = [_context_row(item, data, _contexts(data)[item.id]) for item in data.questions]
    (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")


def write_musique_lines(data: EvalSet, folder: Path, name: str) -> None:
    """Write MuSiQue's JSON Lines: twenty paragraphs a row, the supporting ones marked."""
    contexts = _contexts(data)
    write_lines(folder / f"{name}.jsonl", [_paragraph_row(item, data, contexts[item.id]) for item in data.questions])


def write_hipporag_pair(data: EvalSet, folder: Path, name: str) -> None:
    """Write HippoRAG's pair: questions with their passages, and the corpus that is searched."""
    contexts = _contexts(data)
    hops = any(item.hops for item in data.questions)
    make = _paragraph_row if hops else _context_row
    rows = [make(item, data, contexts[item.id]) for item in data.questions]
    corpus = [{"title": item.title, "text": item.text, "idx": at} for at, item in enumerate(data.passages)]
    (folder / f"{name}.json").write_text(json.dumps(rows), encoding="utf-8")
    (folder / f"{name}_corpus.json").write_text(json.dumps(corpus), encoding="utf-8")


def write_beir_folder(data: EvalSet, folder: Path, name: str) -> None:
    """Write a BEIR folder: corpus, queries and judgements, each with BEIR's own keys."""
    place = folder / name
    write_lines(
        place / "corpus.jsonl",
        [{"_id": item.id, "title": item.title, "text": item.text, "metadata": {}} for item in data.passages],
    )
    write_lines(
        place / "queries.jsonl", [{"_id": item.id, "text": item.text, "metadata": {}} for item in data.questions]
    )
    lines = [f"{item.id}\t{passage}\t1" for item in data.questions for passage in item.gold_ids]
    (place / "qrels").mkdir()
    (place / "qrels" / "test.tsv").write_text("\n".join(["query-id\tcorpus-id\tscore", *lines, ""]), encoding="utf-8")


WRITERS: Mapping[str, Callable[[EvalSet, Path, str], None]] = {
    "context-json": write_context_json,
    "musique-lines": write_musique_lines,
    "hipporag-pair": write_hipporag_pair,
    "beir-folder": write_beir_folder,
}
"""By format. Titles must be unique for `context-json`, whose gold is told by title, as it is in the authors' files."""
