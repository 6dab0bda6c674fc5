"""The compact format: `corpus.jsonl.gz`, `queries.jsonl.gz` and what may stand beside them.

Only `id`, `title`, `text` of passages and `id`, `question`, `gold_ids` of questions are needed. Everything
else (`type`, `evidences`, `decomposition`, `context_ids`, `query_anchors.jsonl.gz`, `openie*.jsonl.gz`,
`vectors.npz`) is used where it is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.data.files import find_file, read_json_lines, sha256_of
from eval.data.records import EvalSet, GoldAnchor, Passage, Question, Triple
from eval.data.vectors import VECTORS_FILE, read_vectors
from eval.errors import DataError

__all__ = ["load_compact", "matches_compact"]


def matches_compact(folder: Path) -> bool:
    """Say whether the folder looks like the compact format (a BEIR folder has `qrels/` as well)."""
    named = find_file(folder, "corpus.jsonl") and find_file(folder, "queries.jsonl")
    return bool(named) and not (folder / "qrels").is_dir()


def load_compact(folder: Path, *, name: str) -> EvalSet:
    """Read one set.

    Raises:
        DataError: a file is missing, a line is malformed, an id is repeated, or vectors do not fit.
    """
    corpus_file = find_file(folder, "corpus.jsonl")
    queries_file = find_file(folder, "queries.jsonl")
    if corpus_file is None or queries_file is None:
        raise DataError(folder, "has no corpus.jsonl and queries.jsonl", fix="see eval/README.md for the format")
    used = [corpus_file, queries_file]
    passages = _passages(corpus_file)
    rows = list(read_json_lines(queries_file))
    questions, notes = _questions(rows, queries_file, known={passage.id for passage in passages})
    anchors_file = find_file(folder, "query_anchors.jsonl")
    if anchors_file is not None:
        used.append(anchors_file)
    triples: dict[str, tuple[Triple, ...]] = {}
    for openie in sorted(folder.glob("openie*.jsonl*")):
        used.append(openie)
        triples.update({_text(row, "id", openie): _triples(row.get("triples")) for row in read_json_lines(openie)})
    vectors_file = folder / VECTORS_FILE
    vectors = None
    if vectors_file.is_file():
        used.append(vectors_file)
        vectors = read_vectors(vectors_file, queries=len(rows), chunks=len(passages))
    return EvalSet(
        name=name,
        path=folder,
        passages=passages,
        questions=questions,
        anchors=None if anchors_file is None else _anchors(anchors_file),
        triples=triples,
        vectors=vectors,
        checksums={file.name: sha256_of(file) for file in used},
        notes=notes,
    )


def _text(row: Mapping[str, Any], key: str, path: Path) -> str:
    value = row.get(key)
    if value is None or value == "":
        raise DataError(path, f"a row has no {key!r}: {str(row)[:120]}", fix="every row needs one")
    return str(value)


def _passages(path: Path) -> tuple[Passage, ...]:
    passages = tuple(
        Passage(id=_text(row, "id", path), title=str(row.get("title") or ""), text=str(row.get("text") or ""))
        for row in read_json_lines(path)
    )
    seen: set[str] = set()
    for passage in passages:
        if passage.id in seen:
            raise DataError(path, f"passage id {passage.id!r} stands twice", fix="ids must be unique")
        seen.add(passage.id)
    if not passages:
        raise DataError(path, "holds no passage", fix="download the file again")
    return passages


def _questions(
    rows: Sequence[Mapping[str, Any]], path: Path, *, known: set[str]
) -> tuple[tuple[Question, ...], tuple[str, ...]]:
    questions: list[Question] = []
    left_out = unresolved = 0
    for number, row in enumerate(rows):
        gold = tuple(dict.fromkeys(str(item) for item in row.get("gold_ids") or ()))
        text = str(row.get("question") or "")
        if not gold or not text.strip():
            left_out += 1
            continue
        unresolved += sum(item not in known for item in gold)
        questions.append(_question(row, path, number=number, gold=gold, text=text))
    notes = []
    if left_out:
        notes.append(f"{left_out} questions without text or gold passages are left out")
    if unresolved:
        notes.append(f"{unresolved} gold ids are not in the corpus and count as missed")
    if not questions:
        raise DataError(path, "holds no question with gold passages", fix="download the file again")
    return tuple(questions), tuple(notes)


def _question(row: Mapping[str, Any], path: Path, *, number: int, gold: tuple[str, ...], text: str) -> Question:
    steps = [step for step in row.get("decomposition") or () if isinstance(step, Mapping)]
    hops = tuple(dict.fromkeys(str(step["support_id"]) for step in steps if step.get("support_id")))
    return Question(
        id=_text(row, "id", path),
        text=text,
        gold_ids=gold,
        row=number,
        type=None if row.get("type") is None else str(row["type"]),
        answer=None if row.get("answer") is None else str(row["answer"]),
        hops=hops if set(hops) <= set(gold) else (),
        evidences=_triples(row.get("evidences")),
        context_ids=tuple(str(item) for item in row.get("context_ids") or ()),
        source=None if row.get("source") is None else str(row["source"]),
        split=None if row.get("split") is None else str(row["split"]),
    )


def _triples(value: Any) -> tuple[Triple, ...]:
    return tuple(
        (str(item[0]), str(item[1]), str(item[2]))
        for item in value or ()
        if isinstance(item, Sequence) and not isinstance(item, str) and len(item) == 3
    )


def _anchors(path: Path) -> dict[str, tuple[GoldAnchor, ...]]:
    return {
        _text(row, "id", path): tuple(
            GoldAnchor(
                passage_id=str(anchor["id"]),
                start=_offset(anchor.get("start")),
                end=_offset(anchor.get("end")),
                mention=str(anchor.get("mention") or ""),
            )
            for anchor in row.get("anchors") or ()
            if isinstance(anchor, Mapping) and anchor.get("id")
        )
        for row in read_json_lines(path)
    }


def _offset(value: Any) -> int:
    """Return a character offset, -1 where there is none."""
    return int(value) if isinstance(value, (int, float)) else -1
