"""Public question files whose rows carry their own passages, pooled into one corpus.

2WikiMultihopQA and HotpotQA publish a JSON list of rows with `context` and `supporting_facts`; MuSiQue
publishes JSON Lines with `paragraphs`; HippoRAG publishes either kind as `<name>.json` beside
`<name>_corpus.json`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eval.data.files import read_json, read_json_lines, sha256_of
from eval.data.records import EvalSet, Passage, Question, Triple
from eval.errors import DataError

__all__ = ["load_hipporag", "load_rows_file"]


@dataclass
class _Pool:
    """Passages by title and text, numbered as they come."""

    closed: bool = False
    order: list[Passage] = field(default_factory=list)
    by_content: dict[tuple[str, str], str] = field(default_factory=dict)

    def place(self, title: str, text: str) -> str | None:
        """Return the id of this passage, adding it unless the pool is closed."""
        key = (title.strip(), " ".join(text.split()))
        if key not in self.by_content and not self.closed:
            self.by_content[key] = f"p-{len(self.order):06d}"
            self.order.append(Passage(id=self.by_content[key], title=title, text=text))
        return self.by_content.get(key)


def load_rows_file(path: Path, *, name: str) -> EvalSet:
    """Read a public HotpotQA, 2WikiMultihopQA (JSON) or MuSiQue (JSON Lines) file and pool its passages.

    Raises:
        DataError: the rows are of no known shape.
    """
    lines = path.name.removesuffix(".gz").endswith(".jsonl")
    rows = list(read_json_lines(path)) if lines else read_json(path)
    return _assemble(rows, path=path, name=name, pool=_Pool(), files=[path])


def load_hipporag(questions: Path, corpus: Path, *, name: str) -> EvalSet:
    """Read HippoRAG's pair of files: questions of either kind, and the corpus that was really searched."""
    pool = _Pool()
    for row in read_json(corpus):
        pool.place(str(row.get("title") or ""), str(row.get("text") or ""))
    pool.closed = True
    return _assemble(read_json(questions), path=questions, name=name, pool=pool, files=[questions, corpus])


def _assemble(rows: Any, *, path: Path, name: str, pool: _Pool, files: Iterable[Path]) -> EvalSet:
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], Mapping):
        raise DataError(path, "is not a list of questions", fix="give the authors' question file")
    questions: list[Question] = []
    left_out = 0
    for number, row in enumerate(rows):
        if "paragraphs" in row:
            question = _from_paragraphs(row, pool, number=number)
        elif "context" in row and "supporting_facts" in row:
            question = _from_context(row, pool, number=number)
        else:
            fix = "rows need `paragraphs`, or `context` and `supporting_facts` (test files carry no gold)"
            raise DataError(path, f"row {number + 1} has no passages", fix=fix)
        if question is None:
            left_out += 1
        else:
            questions.append(question)
    if not questions:
        raise DataError(path, "has no question whose gold passages are in the corpus", fix="use a file with gold")
    notes = (f"{left_out} questions without gold passages in the corpus are left out",) if left_out else ()
    return EvalSet(
        name=name,
        path=path.parent,
        passages=tuple(pool.order),
        questions=tuple(questions),
        checksums={file.name: sha256_of(file) for file in files},
        notes=notes,
    )


def _context_of(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    context = row["context"]
    if isinstance(context, Mapping):  # the Hugging Face mirror holds columns rather than pairs
        pairs: Iterable[Any] = zip(context["title"], context["sentences"], strict=True)
    else:
        pairs = context
    return [
        (str(title), "".join(sentences) if not isinstance(sentences, str) else sentences) for title, sentences in pairs
    ]


def _supporting_titles(row: Mapping[str, Any]) -> list[str]:
    facts = row["supporting_facts"]
    if isinstance(facts, Mapping):
        return list(dict.fromkeys(str(title) for title in facts["title"]))
    return list(dict.fromkeys(str(fact[0]) for fact in facts))


def _from_context(row: Mapping[str, Any], pool: _Pool, *, number: int) -> Question | None:
    placed = [(title, pool.place(title, text)) for title, text in _context_of(row)]
    id_of = {title: passage for title, passage in placed if passage is not None}
    wanted = _supporting_titles(row)
    gold = tuple(dict.fromkeys(id_of[title] for title in wanted if title in id_of))
    if not gold or any(title not in id_of for title in wanted):
        return None
    evidences: tuple[Triple, ...] = tuple(
        (str(item[0]), str(item[1]), str(item[2]))
        for item in row.get("evidences") or ()
        if isinstance(item, Sequence) and len(item) == 3
    )
    return Question(
        id=str(row.get("_id") or row.get("id") or number),
        text=str(row["question"]),
        gold_ids=gold,
        row=number,
        type=None if row.get("type") is None else str(row["type"]),
        answer=None if row.get("answer") is None else str(row["answer"]),
        evidences=evidences,
        context_ids=tuple(passage for _, passage in placed if passage is not None),
    )


def _from_paragraphs(row: Mapping[str, Any], pool: _Pool, *, number: int) -> Question | None:
    ids: dict[int, str] = {}
    gold: list[str] = []
    for position, paragraph in enumerate(row["paragraphs"]):
        text = str(paragraph.get("paragraph_text") or paragraph.get("text") or "")
        passage = pool.place(str(paragraph.get("title") or ""), text)
        if passage is None:
            continue
        ids[int(paragraph.get("idx", position))] = passage
        if paragraph.get("is_supporting"):
            gold.append(passage)
    steps = row.get("question_decomposition") or ()
    support = [step.get("paragraph_support_idx") for step in steps]
    hops = tuple(dict.fromkeys(ids[index] for index in support if index is not None and index in ids))
    if not gold:
        return None
    identifier = str(row.get("id") or row.get("_id") or number)
    return Question(
        id=identifier,
        text=str(row["question"]),
        gold_ids=tuple(dict.fromkeys(gold)),
        row=number,
        type=identifier.split("__", maxsplit=1)[0] if "__" in identifier else None,
        answer=None if row.get("answer") is None else str(row["answer"]),
        hops=hops if set(hops) <= set(gold) else (),
        context_ids=tuple(dict.fromkeys(ids.values())),
    )
