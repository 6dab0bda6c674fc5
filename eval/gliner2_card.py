"""Held-out scores of a GLiNER2 checkpoint, and the model card that carries them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.gliner2_questions import LABELS, UNTYPED, Example
from eval.gliner2_relations import FAMILIES
from eval.systems.tier2 import LABELS_FILE

__all__ = ["average_precision", "score", "write_card"]

THRESHOLD = 0.5
"""The library's own default, for spans and for relation labels."""


def _f1(hit: int, said: int, gold: int) -> float:
    return round(2 * hit / (said + gold), 4) if said + gold else 0.0


def average_precision(ranked: Sequence[str], gold: set[str]) -> float:
    """Average precision of a ranking: mean over the gold labels of the precision at their ranks."""
    hits, total = 0, 0.0
    for rank, label in enumerate(ranked, start=1):
        if label in gold:
            hits += 1
            total += hits / rank
    return total / len(gold) if gold else 0.0


def _extract(model: Any, example: Example) -> tuple[set[tuple[int, int, str]], dict[str, float]]:
    """Return the spans with their labels and the probability of each relation label."""
    schema = model.create_schema().entities(list(example.entities))
    if example.relations:
        schema = schema.classification("relation", list(example.relations), multi_label=True, cls_threshold=0.0)
    found = model.extract(example.text, schema, threshold=THRESHOLD, include_confidence=True, include_spans=True)
    spans = {
        (hit["start"], min(hit["end"], len(example.text)), label)
        for label, hits in (found.get("entities") or {}).items()
        for hit in hits or ()
    }
    relations = {item["label"]: item["confidence"] for item in found.get("relation", ())}
    return spans, relations


def score(model: Any, examples: Sequence[Example]) -> dict[str, float]:
    """Return span F1 (untyped and typed) and relation scores (micro F1 and mean average precision).

    Relation scores are told apart: `seen` asks for relations of the training data in phrasings that it lacks,
    `zero_shot` for at least one relation that it lacks altogether.

    Args:
        model: a loaded or just trained extractor.
        examples: held-out examples.
    """
    held_out = {label for family in FAMILIES if family.held_out for label in family.labels}
    counts = {kind: [0, 0, 0] for kind in ("untyped", "typed", "relation_seen", "relation_zero_shot")}
    precisions: dict[str, list[float]] = {"seen": [], "zero_shot": []}
    for example in examples:
        spans, relations = _extract(model, example)
        gold = {
            (start, start + len(form), label)
            for label, forms in example.entities.items()
            for form in forms
            if (start := example.text.find(form)) >= 0
        }
        tally = counts["untyped" if UNTYPED in example.entities else "typed"]
        for i, value in enumerate((len(spans & gold), len(spans), len(gold))):
            tally[i] += value
        if example.relations:
            asked = set(example.asked)
            said = {label for label, p in relations.items() if p >= THRESHOLD}
            kind = "zero_shot" if asked & held_out else "seen"
            for i, value in enumerate((len(said & asked), len(said), len(asked))):
                counts[f"relation_{kind}"][i] += value
            ranked = sorted(relations, key=lambda label: (-relations[label], label))
            precisions[kind].append(average_precision(ranked, asked))
    scores = {f"{kind}_f1": _f1(*tally) for kind, tally in counts.items()}
    for kind, values in precisions.items():
        scores[f"relation_map_{kind}"] = round(sum(values) / len(values), 4) if values else 0.0
        scores[f"relation_questions_{kind}"] = len(values)
    return scores


def write_card(
    out: Path,
    *,
    plan: Mapping[str, Any],
    scores: Mapping[str, float],
    seconds: Mapping[str, float],
    names: Mapping[str, Sequence[str]],
) -> None:
    """Write `README.md` (the model card) and `scores.json` beside the weights."""
    counts = ", ".join(f"{len(values)} {kind}" for kind, values in names.items())
    rows = "\n".join(f"| {key} | {value} |" for key, value in scores.items())
    settings = "\n".join(f"- {key}: {value}" for key, value in plan.items())
    known = {label for labels in LABELS.values() for label in labels}
    card = f"""# GLiNER2 on MiniLM, trained on synthetic questions

A small GLiNER2 span checkpoint for measuring tier 2 of latence-retrieval offline. It stands in for the published
checkpoints and says nothing about them.

- Encoder: all-MiniLM-L6-v2 (Apache-2.0), {plan["max_width"]} words a span at most. All weights were trained but the word
  vectors, of which only those of the library's own marker tokens were.
- Data: {plan["relation_examples"]} synthetic examples with relation labels alone and {plan["span_examples"]} with spans, from catalogue
  names ({counts}), silver mentions in passages, and extracted triples. Phrasings were written with the usual
  Wikidata relations in view; no question of a question set was read.
- Held out: a tenth of the names, the last phrasing of each kind of each relation, and {sum(f.held_out for f in FAMILIES)} relations entirely (`zero_shot` below).
- Training took {seconds["wall_s"] / 60:.1f} minutes by the clock and {seconds["cpu_s"] / 60:.1f} of processor time.
- Labels: "entity" finds names of any type; {", ".join(sorted(known))} are the types that it saw.

| held-out score ({plan["dev_examples"]} synthetic examples, threshold {THRESHOLD}) | |
|---|---|
{rows}

Limits: synthetic questions are easier than real ones; types are silver (a rule over first sentences); English only.

{settings}
"""
    (out / "README.md").write_text(card, encoding="utf-8")
    (out / LABELS_FILE).write_text(json.dumps([UNTYPED]) + "\n", encoding="utf-8")
    (out / "scores.json").write_text(json.dumps(dict(scores), indent=2) + "\n", encoding="utf-8")
