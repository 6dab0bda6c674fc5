"""What the relation signal is worth on typed facts: with GLiNER2, with the embedding variant, without."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from eval.bench.tier2_asking import Asker, MemoSignal, MiniLM, summarise
from eval.config import EvalConfig
from eval.data.records import EvalSet, Question
from eval.graph.linkers import linked_inputs
from eval.progress import say
from latence_retrieval.build import build_sidecar
from latence_retrieval.build.load import MENTIONS
from latence_retrieval.utility.relation import EmbeddingRelationSignal

__all__ = ["measure_relations"]


def _in_measured_half(question: Question) -> bool:
    return hashlib.sha256(question.id.encode()).digest()[0] % 2 == 0


def _evidence_facts(data: EvalSet) -> dict[str, Any]:
    """Typed facts from the reasoning triples of the questions *outside* the measured half."""
    titles = {passage.title: f"title:{passage.title}" for passage in data.passages}
    passage_of = {passage.title: passage.id for passage in data.passages}
    phrases: dict[str, dict[str, Any]] = {}
    facts: dict[tuple[str, str, str], dict[str, Any]] = {}
    for question in data.questions:
        if _in_measured_half(question):
            continue
        for subject, relation, thing in question.evidences:
            if subject not in passage_of or subject == thing:
                continue
            target = titles.get(thing)
            if target is None:
                target = f"phrase:{thing}"
                phrases.setdefault(target, {"id": target, "name": thing, "discovered": True})
            facts[subject, relation, thing] = {
                "relation": relation,
                "members": [titles[subject], target],
                "chunk": passage_of[subject],
            }
    return {"entities": list(phrases.values()), "facts": list(facts.values())}


def measure_relations(
    data: EvalSet, *, model: str, work: Path, embed: MiniLM, config: EvalConfig, limit: int | None
) -> dict[str, Any]:
    """Build a snapshot with typed facts and relation vectors, and ask it with each signal.

    MuSiQue's facts are those a language model extracted from the passages around its 100 training questions, which
    are the ones asked. 2Wiki's come from the reasoning triples of half of its questions; the other half is asked.
    """
    if data.triples:
        inputs = linked_inputs(data, "openie")
        questions = [item for item in data.questions if item.split == "train"]
    else:
        inputs = {**linked_inputs(data, "catalogue"), **_evidence_facts(data)}
        questions = [item for item in data.questions if _in_measured_half(item)]
    questions = questions[:limit]
    labels = sorted({fact["relation"] for fact in inputs["facts"]} - {MENTIONS})
    say(f"{data.name}: {len(inputs['facts'])} facts, {len(labels)} relations, {len(questions)} questions")
    assert data.vectors is not None
    assert data.vectors.entities is not None
    place = work / f"relations-{data.name}"
    if not (place / "manifest.json").is_file():
        build_sidecar(
            place,
            replace=True,
            relations=[{"label": label} for label in labels],
            relation_vectors=embed.many(labels),
            chunk_vectors=data.vectors.chunks.tolist(),
            title_vectors=data.vectors.entities.tolist(),
            **inputs,
        )
    asker = Asker(data, place, embed=embed)
    signals: dict[str, Any] = {
        "without": None,
        "embedding": EmbeddingRelationSignal(asker.sidecar),
        "gliner2": MemoSignal(model=model),
    }
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in signals}
    for done, question in enumerate(questions, start=1):
        for name, signal in signals.items():
            rows[name].append(asker.ask(question, tiers=("ann", "alias"), relation_signal=signal))
        if done % 50 == 0:
            say(f"{data.name}: relations, {done} of {len(questions)} questions")
    touched = sum("relq present" in row for row in rows["embedding"])
    summary = summarise(rows, baseline="without", config=config)
    return {"facts": len(inputs["facts"]), "relations": len(labels), "questions with typed facts": touched, **summary}
