"""What the relation signal is worth on typed facts: with GLiNER2, with the embedding variants, without.

The weight is chosen on one half of the questions and its worth told on the other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from eval.bench.tier2_asking import Asker, MemoSignal, MiniLM, summarise
from eval.bench.tier2_embedded import EmbeddedRelations, calibrate
from eval.bench.tier2_rows import Remembered
from eval.config import EvalConfig
from eval.data.records import EvalSet, Question
from eval.gliner2_card import average_precision
from eval.graph.linkers import linked_inputs
from eval.progress import say
from latence_retrieval.build import build_sidecar
from latence_retrieval.build.load import MENTIONS
from latence_retrieval.settings import Settings

__all__ = ["measure_relations"]

WEIGHTS = (0.1, 0.2, 0.4)
WITHOUT = "without"


def _in_measured_half(question: Question) -> bool:
    return hashlib.sha256(question.id.encode()).digest()[0] % 2 == 0


def _chooses(question: Question) -> bool:
    """Whether a measured question serves to choose the weight; the others serve to tell what it is worth."""
    return hashlib.sha256(question.id.encode()).digest()[1] % 2 == 0


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


def _questions_and_inputs(data: EvalSet) -> tuple[list[Question], dict[str, Any]]:
    """Return the questions to ask and the snapshot's inputs.

    MuSiQue's facts are those that a language model extracted from the passages around its 100 training questions,
    which are the ones asked. 2Wiki's come from the reasoning triples of half of its questions; the other half is asked.
    """
    if data.triples:
        return [item for item in data.questions if item.split == "train"], linked_inputs(data, "openie")
    inputs = {**linked_inputs(data, "catalogue"), **_evidence_facts(data)}
    return [item for item in data.questions if _in_measured_half(item)], inputs


def measure_relations(
    data: EvalSet,
    *,
    model: str,
    work: Path,
    embed: MiniLM,
    config: EvalConfig,
    limit: int | None,
    remembered: Remembered,
) -> dict[str, Any]:
    """Build a snapshot with typed facts, rank its relations for each question, and ask it with each signal."""
    questions, inputs = _questions_and_inputs(data)
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
        "embedding": EmbeddedRelations(asker, form="{}"),
        "embedding, question form": EmbeddedRelations(asker, form="What is the {}?"),
        "embedding, question form, less anchors": EmbeddedRelations(asker, form="What is the {}?", less_anchors=0.5),
        "gliner2": MemoSignal(model=model),
    }
    told: dict[str, Any] = {"facts": len(inputs["facts"]), "relations": len(labels), "questions": len(questions)}
    asked = {item.id: {relation for _, relation, _ in item.evidences} & set(labels) for item in questions}
    ranked = [item for item in questions if asked[item.id]]
    if ranked:
        told["calibration"] = {
            name: calibrate(signal, [item for item in ranked if _chooses(item)], asked, labels)
            for name, signal in signals.items()
            if isinstance(signal, EmbeddedRelations)
        }
        told["ranking"] = {
            name: _mean_average_precision(asker, signal, [item for item in ranked if not _chooses(item)], asked, labels)
            for name, signal in signals.items()
        }
        told["ranked questions"] = sum(not _chooses(item) for item in ranked)
    rows = _downstream(asker, questions, signals, remembered)
    return {**told, **_chosen(rows, questions, config)}


def _mean_average_precision(
    asker: Asker, signal: Any, questions: Sequence[Question], asked: Mapping[str, set[str]], labels: Sequence[str]
) -> float:
    """Return the mean average precision of the signal's order of all relations of the facts."""
    total = 0.0
    for question in questions:
        scores = signal.relation_scores(question.text, dict.fromkeys(labels), asker.vector(question)) or {}
        order = sorted(labels, key=lambda label: (-scores.get(label, 0.0), label))
        total += average_precision(order, asked[question.id])
    return round(total / len(questions), 4) if questions else 0.0


def _downstream(
    asker: Asker, questions: Sequence[Question], signals: Mapping[str, Any], remembered: Remembered
) -> dict[str, list[dict[str, float]]]:
    settings = Settings()
    rows: dict[str, list[dict[str, float]]] = {WITHOUT: []}
    for done, question in enumerate(questions, start=1):
        ways: dict[str, dict[str, Any]] = {WITHOUT: {}}
        for name, signal in signals.items():
            for weight in WEIGHTS:
                weights = settings.weights.model_copy(update={"relq": weight})
                changed = settings.model_copy(update={"weights": weights})
                ways[f"{name} at {weight}"] = {"relation_signal": signal, "settings": changed}
        for way, more in ways.items():
            make = partial(asker.ask, question, tiers=("ann", "alias"), **more)
            key = (asker.data.name, "relations", way, question.id)
            rows.setdefault(way, []).append(remembered.get(key, with_model="gliner2" in way, make=make))
        if done % 50 == 0:
            say(f"{asker.data.name}: relations, {done} of {len(questions)} questions")
    return rows


def _chosen(
    rows: Mapping[str, Sequence[Mapping[str, float]]], questions: Sequence[Question], config: EvalConfig
) -> dict[str, Any]:
    """Choose each signal's weight by recall@5 on one half, the least weight among equals; tell the other half."""

    def half(way: str, *, chooses: bool) -> list[Mapping[str, float]]:
        return [row for row, question in zip(rows[way], questions, strict=True) if _chooses(question) == chooses]

    def recall(way: str) -> float:
        scored = half(way, chooses=True)
        return sum(row["recall@5"] for row in scored) / len(scored) if scored else 0.0

    names = list(dict.fromkeys(way.rsplit(" at ", 1)[0] for way in rows if way != WITHOUT))
    best: dict[str, float] = {}
    for name in names:
        recalls = {weight: recall(f"{name} at {weight}") for weight in WEIGHTS}
        best[name] = min(weight for weight in WEIGHTS if recalls[weight] == max(recalls.values()))
    others = {way: half(way, chooses=False) for way in rows}
    return {
        "questions with typed facts": sum("relq present" in row for row in rows[f"{names[0]} at {WEIGHTS[0]}"]),
        "chosen weights": best,
        "recall@5 by weight, choosing half": {way: round(100 * recall(way), 2) for way in rows},
        "at the chosen weight, other half": summarise(
            {WITHOUT: others[WITHOUT], **{name: others[f"{name} at {best[name]}"] for name in names}},
            baseline=WITHOUT,
            config=config,
        ),
        "at 0.2, all questions": summarise(
            {WITHOUT: rows[WITHOUT], **{name: rows[f"{name} at 0.2"] for name in names}},
            baseline=WITHOUT,
            config=config,
        ),
    }
