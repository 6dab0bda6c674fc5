"""Synthesises labelled questions from a catalogue: what `train_gliner2` trains and scores on.

No question of a question set is read here. Names come from the corpora's titles (the catalogue that an adopter has
anyway), types from the first sentence of each passage, relations from `gliner2_relations` and from extracted triples.
A tenth of the names, the last phrasing of each family, and whole families stay out of training.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.gliner2_relations import FAMILIES, Family

__all__ = ["Catalogue", "Example", "read_catalogue", "synthesise"]

SETS = ("2wiki_pooled", "hotpotqa_pooled", "musique_pooled")
UNTYPED = "entity"

LABELS: Mapping[str, tuple[str, ...]] = {
    "person": ("person", "human"),
    "film": ("film", "movie", "work of art"),
    "song": ("song", "work of art"),
    "album": ("album", "work of art"),
    "book": ("book", "work of art"),
    "series": ("television series", "work of art"),
    "band": ("band", "organization"),
    "organization": ("organization", "company"),
    "place": ("location", "place"),
    "event": ("event",),
}
"""Type that a first sentence gives -> labels that stand for it in a schema (OntoNotes names among them)."""

_TYPES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("person", r"\([^)]{0,60}\b(?:born|died)\b|\(\s*\d[^)]{2,40}[\u2013-]|\bwas born (?:on|in)\b"),
        ("song", r"\b(?:is|was) an? .{0,60}\b(?:song|single)\b"),
        ("album", r"\b(?:is|was) (?:an?|the) .{0,60}\balbum\b"),
        ("film", r"\b(?:is|was) an? .{0,80}\bfilm\b(?! (?:director|producer|actor|actress))"),
        ("series", r"\b(?:is|was) an? .{0,60}\b(?:television|TV|drama|web) (?:series|sitcom|show)\b"),
        ("book", r"\b(?:is|was) an? .{0,60}\b(?:novel|book|play|poem|magazine|newspaper)\b"),
        ("band", r"\b(?:is|are|was|were) an? .{0,60}\b(?:band|musical group|duo|girl group|boy band)\b"),
        ("person", r"\b(?:is|was) an? .{0,50}(?:er|or|ist|ian|ress)\b"),
        ("place", r"\b(?:is|was) an? .{0,50}\b(?:city|town|village|county|municipality|river|lake|district|commune|island|state|country|mountain|province|region|township|community|airport|building|museum|park)\b"),
        ("event", r"\b(?:is|was) an? .{0,50}\b(?:war|battle|tournament|championship|election|festival|season|games|competition|event)\b"),
        ("organization", r"\b(?:is|was) an? .{0,60}\b(?:company|organi[sz]ation|university|school|club|team|agency|corporation|college|party|brand|label|airline|institute)\b"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Example:
    """One text with its spans by label (an empty list is a negative) and relation labels asked or not."""

    text: str
    entities: Mapping[str, Sequence[str]]
    relations: Sequence[str] = ()
    asked: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Names by type, sentences that mention names, and extracted triples."""

    names: Mapping[str, Sequence[str]]
    sentences: Sequence[tuple[str, Sequence[tuple[str, str]]]]
    triples: Sequence[tuple[str, str, str]]


def _held_out(name: str) -> bool:
    """A tenth of the names, by hash, so that the split does not depend on order."""
    return hashlib.sha256(name.casefold().encode()).digest()[0] < 26


def _type_of(text: str) -> str | None:
    sentence = re.split(r"(?<=[a-z\d)])\. ", text, maxsplit=1)[0]
    return next((name for name, pattern in _TYPES if pattern.search(sentence)), None)


def _rows(path: Path) -> Iterable[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def read_catalogue(data: Path) -> Catalogue:
    """Read titles, typed sentences and triples of the corpora under `data`; questions are not opened."""
    names: dict[str, dict[str, None]] = {}
    typed: dict[str, str] = {}
    passages: list[str] = []
    for name in SETS:
        for row in _rows(data / name / "corpus.jsonl.gz"):
            title = re.sub(r"\s*\([^)]*\)$", "", row["title"]).strip()
            kind = _type_of(row["text"])
            if kind and len(title) > 2 and len(title.split()) <= 10:
                names.setdefault(kind, {})[title] = None
                typed[title] = kind
            passages.append(row["text"])
    triples = [
        (s, r, o)
        for row in _rows(data / "musique_pooled" / "openie_train100.jsonl.gz")
        for s, r, o in (t for t in row["triples"] if len(t) == 3)
        if 3 <= len(r) <= 40 and 3 <= len(s) <= 60 and r.lower() not in {"is", "has", "was", "had", "a"}
    ]
    return Catalogue({k: tuple(v) for k, v in names.items()}, _silver(passages, typed), triples)


def _silver(passages: Sequence[str], typed: Mapping[str, str]) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return sentences with the names of two words or more that occur in them verbatim, longest first.

    A name of one word is too often something else to be a label.
    """
    found = []
    for text in passages:
        for sentence in re.split(r"(?<=[a-z\d)]{2})\. (?=[A-Z])", text)[:3]:
            if not 40 < len(sentence) < 220:
                continue
            words = [word.strip(",.;:()\"'") for word in sentence.split()]
            hits: dict[str, str] = {}
            start = 0
            while start < len(words):
                step = 1
                for length in range(min(10, len(words) - start), 1, -1):
                    name = " ".join(words[start : start + length])
                    if name in typed and name in sentence:
                        hits[name] = typed[name]
                        step = length
                        break
                start += step
            if hits:
                found.append((sentence, list(hits.items())))
    return found


class _Synthesiser:
    """Draws examples with one random generator; `dev` decides which names and phrasings it may use."""

    def __init__(self, catalogue: Catalogue, *, seed: int, dev: bool) -> None:
        self.rng = random.Random(seed)
        self.dev = dev
        self.names = {kind: [n for n in names if _held_out(n) == dev] for kind, names in catalogue.names.items()}
        self.sentences = [
            (text, hits) for text, hits in catalogue.sentences if any(_held_out(n) for n, _ in hits) == dev
        ]
        self.triples = [t for t in catalogue.triples if _held_out(t[0]) == dev]
        self.pool = [family for family in FAMILIES if dev or not family.held_out]
        self.open_labels = sorted({r for _, r, _ in self.triples})

    def draw(self) -> Example:
        """Return one example: a family question, a triple's question, or a sentence with silver mentions."""
        chance = self.rng.random()
        if chance < 0.08 and self.sentences:
            return self._sentence()
        if chance < 0.25 and self.triples:
            return self._triple()
        return self._question()

    def _name(self, kind: str) -> str:
        name = self.rng.choice(self.names[kind])
        words = name.split()
        chance = self.rng.random()
        if chance < 0.08 and len(words) > 1:  # a name cut short, as people do
            name = words[-1] if kind == "person" else " ".join(words[:-1])
        elif chance < 0.3:
            name = name.title()
        elif chance < 0.36 and len(words) > 1:
            name = f'"{name}"' if kind in ("film", "song", "album", "book") else name
        return name if len(name.strip('" ')) > 2 else self.names[kind][0]

    def _question(self) -> Example:
        family = self.rng.choice(self.pool)
        if family.comparisons and self.rng.random() < 0.3:
            kind = self.rng.choice([k for k in family.subjects if k in self.names])
            pairs = [(self._name(kind), kind), (self._name(kind), kind)]
            text = self.rng.choice(family.comparisons).format(x=pairs[0][0], y=pairs[1][0])
            asked = [family]
            if kind == "film" and self.rng.random() < 0.3:
                text = "Which film " + text[0].lower() + text[1:]
        else:
            text, pairs, asked = self._chain(family)
        if self.rng.random() < 0.1:
            text = text.rstrip("?.")
        return self._labelled(text, pairs, [self.rng.choice(f.labels) for f in asked], asked)

    def _chain(self, family: Family) -> tuple[str, list[tuple[str, str]], list[Family]]:
        """A question about a name, or about the answer to another relation of it (two hops)."""
        questions = family.questions[-1:] if self.dev else family.questions[:-1]
        text = self.rng.choice(questions)
        inner = [f for f in self.pool if f.phrases and f.answer in family.subjects and f is not family]
        if inner and self.rng.random() < 0.5:
            middle = self.rng.choice(inner)
            kind = self.rng.choice(middle.subjects)
            name = self._name(kind)
            phrase = self.rng.choice(middle.phrases).format(x=name)
            text = text.format(x=phrase)
            return text[0].upper() + text[1:], [(name, kind)], [family, middle]
        kind = self.rng.choice(family.subjects)
        name = self._name(kind)
        return text.format(x=name), [(name, kind)], [family]

    def _triple(self) -> Example:
        subject, relation, thing = self.rng.choice(self.triples)
        text = self.rng.choice(
            (
                f"{subject} {relation} what?",
                f"What is it that {subject} {relation}?",
                f"Which one {relation} {thing}?",
                f"{subject} {relation} {thing}, is that right?",
            )
        )
        negatives = self.rng.sample(self.open_labels, min(len(self.open_labels), self.rng.randint(2, 6)))
        words = set(relation.lower().split())
        kept = [n for n in negatives if not words & set(n.lower().split())]
        labels = [relation, *kept]
        self.rng.shuffle(labels)
        found = [form for form in (subject, thing) if form[:1].isupper() and form in text]
        return Example(text, {UNTYPED: found}, labels, [relation])

    def _sentence(self) -> Example:
        text, hits = self.rng.choice(self.sentences)
        return self._labelled(text, hits, [], [])

    def _labelled(
        self, text: str, pairs: Sequence[tuple[str, str]], asked: list[str], families: Sequence[Family]
    ) -> Example:
        forms = [(name.strip('"'), kind) for name, kind in pairs]
        if self.rng.random() < 0.6:
            entities: dict[str, list[str]] = {UNTYPED: list(dict.fromkeys(name for name, _ in forms))}
        else:
            entities = {}
            for name, kind in forms:
                label = self.rng.choice(LABELS[kind])
                known = next((one for one in LABELS[kind] if one in entities), label)
                if name not in entities.setdefault(known, []):
                    entities[known].append(name)
            taken = {kind for _, kind in forms}
            allowed = [
                label
                for kind, labels in LABELS.items()
                if kind not in taken
                for label in labels
                if not any(label in LABELS[other] for other in taken)
            ]
            for label in self.rng.sample(sorted(set(allowed)), self.rng.randint(1, 3)):
                entities.setdefault(label, [])
        if not asked or (not self.dev and self.rng.random() < 0.4):  # short inputs train about twice as fast
            return Example(text, _shuffled(self.rng, entities))
        others = [f for f in self.pool if not any(set(f.labels) & set(g.labels) for g in families)]
        most = 12 if self.dev else 6
        wrong = [self.rng.choice(f.labels) for f in self.rng.sample(others, self.rng.randint(2, most))]
        labels = list(dict.fromkeys([*asked, *(w for w in wrong if w not in asked)]))
        self.rng.shuffle(labels)
        return Example(text, _shuffled(self.rng, entities), labels, list(dict.fromkeys(asked)))


def _shuffled(rng: random.Random, entities: Mapping[str, list[str]]) -> dict[str, list[str]]:
    items = list(entities.items())
    rng.shuffle(items)
    return dict(items)


def synthesise(catalogue: Catalogue, *, count: int, seed: int, dev: bool = False) -> list[Example]:
    """Return `count` examples; the same arguments give the same examples.

    Args:
        catalogue: names, sentences and triples.
        count: how many.
        seed: of the generator.
        dev: draw from the held-out names, phrasings and families instead of those for training.
    """
    source = _Synthesiser(catalogue, seed=seed, dev=dev)
    return [source.draw() for _ in range(count)]
