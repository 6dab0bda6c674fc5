"""BEIR folders: `corpus.jsonl`, `queries.jsonl` and `qrels/<split>.tsv`."""

from __future__ import annotations

import csv
from pathlib import Path

from eval.data.files import find_file, read_json_lines, sha256_of
from eval.data.records import EvalSet, Passage, Question
from eval.errors import DataError

__all__ = ["load_beir", "matches_beir"]

_SPLITS = ("test", "dev", "train")
"""Order of preference: the split that published figures are for stands first."""


def matches_beir(folder: Path) -> bool:
    """Say whether the folder has BEIR's three parts."""
    return (
        bool(find_file(folder, "corpus.jsonl") and find_file(folder, "queries.jsonl")) and (folder / "qrels").is_dir()
    )


def load_beir(folder: Path, *, name: str) -> EvalSet:
    """Read one BEIR folder; relevance above zero makes a passage gold.

    Raises:
        DataError: a part is missing or the judgements name no question of the file.
    """
    corpus_file, queries_file = find_file(folder, "corpus.jsonl"), find_file(folder, "queries.jsonl")
    qrels_file = next(
        (folder / "qrels" / f"{split}.tsv" for split in _SPLITS if (folder / "qrels" / f"{split}.tsv").is_file()),
        None,
    )
    if corpus_file is None or queries_file is None or qrels_file is None:
        raise DataError(
            folder, "is not a complete BEIR folder", fix="needs corpus.jsonl, queries.jsonl, qrels/test.tsv"
        )
    passages = tuple(
        Passage(id=str(row["_id"]), title=str(row.get("title") or ""), text=str(row.get("text") or ""))
        for row in read_json_lines(corpus_file)
    )
    gold = _judgements(qrels_file)
    questions = tuple(
        Question(id=str(row["_id"]), text=str(row["text"]), gold_ids=gold[str(row["_id"])], row=number)
        for number, row in enumerate(read_json_lines(queries_file))
        if gold.get(str(row["_id"]))
    )
    if not questions:
        raise DataError(qrels_file, "judges no question of queries.jsonl", fix="download the set again")
    files = (corpus_file, queries_file, qrels_file)
    return EvalSet(
        name=name,
        path=folder,
        passages=passages,
        questions=questions,
        checksums={file.name: sha256_of(file) for file in files},
    )


def _judgements(path: Path) -> dict[str, tuple[str, ...]]:
    gold: dict[str, list[str]] = {}
    with path.open(encoding="utf-8", newline="") as lines:
        for row in csv.reader(lines, delimiter="\t"):
            if len(row) < 3 or not row[2].strip().lstrip("-").isdigit():
                continue  # the header, or a blank line
            if int(row[2]) > 0:
                gold.setdefault(row[0], []).append(row[1])
    return {question: tuple(dict.fromkeys(ids)) for question, ids in gold.items()}
