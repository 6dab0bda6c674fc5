"""Synthesises labelled questions from a catalogue: what `train_gliner2` trains and scores on.

No question of a question set is read here. Names come from the corpora's titles (the catalogue that an adopter has
anyway), types from the first sentence of each passage, relations from `gliner2_relations` and from extracted triples.
A tenth of the names, the last phrasing of each kind in each family, and whole families stay out of training.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.gliner2_catalogue import Catalogue
from eval.gliner2_relations import FAMILIES, Family

__all__ = ["Example", "synthesise"]

UNTYPED = "entity"

TRIPLES_SHARE = 0.25
"""Examples of relations that come from extracted triples: their relation stands in the text word for word."""

TEMPLATE_SHARE = 0.1
UNTYPED_SHARE = 0.5

_TEMPLATES = ("{label} of {x}?", "{x}: {label}?", "Tell me the {label} of {x}.", "Which {label} does {x} have?")

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


@dataclass(frozen=True, slots=True)
class Example:
    """One text with its spans by label (an empty list is a negative) and relation labels asked or not."""

    text: str
    entities: Mapping[str, Sequence[str]]
    relations: Sequence[str] = ()
    asked: Sequence[str] = ()


def _held_out(name: str) -> bool:
    """A tenth of the names, by hash, so that the split does not depend on order."""
    return hashlib.sha256(name.casefold().encode()).digest()[0] < 26


def _phrasings(written: Sequence[str], *, dev: bool) -> Sequence[str]:
    """The last phrasing is for the dev split, the others for training; a single one is nobody's but training's."""
    return written[-1:] if dev and len(written) > 1 else () if dev else written[:-1] or written


class _Synthesiser:
    """Draws examples with one random generator; `dev` decides which names and phrasings it may use."""

    def __init__(self, catalogue: Catalogue, *, seed: int, dev: bool, relations_only: bool) -> None:
        self.rng = random.Random(seed)
        self.dev = dev
        self.relations_only = relations_only
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
        if self.relations_only:
            return self._triple() if chance < TRIPLES_SHARE and self.triples else self._question()
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
        comparisons = _phrasings(family.comparisons, dev=self.dev)
        if comparisons and self.rng.random() < 0.3:
            kind = self.rng.choice([k for k in family.subjects if k in self.names])
            pairs = [(self._name(kind), kind), (self._name(kind), kind)]
            text = self.rng.choice(comparisons).format(x=pairs[0][0], y=pairs[1][0])
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
        text = self.rng.choice(_phrasings(family.questions, dev=self.dev))
        if not self.dev and self.rng.random() < TEMPLATE_SHARE:  # the label's own words, whatever the relation
            kind = self.rng.choice(family.subjects)
            name = self._name(kind)
            text = self.rng.choice(_TEMPLATES).format(label=self.rng.choice(family.labels), x=name)
            return text, [(name, kind)], [family]
        inner = [
            f
            for f in self.pool
            if _phrasings(f.phrases, dev=self.dev) and f.answer in family.subjects and f is not family
        ]
        if inner and self.rng.random() < 0.5:
            middle = self.rng.choice(inner)
            kind = self.rng.choice(middle.subjects)
            name = self._name(kind)
            phrase = self.rng.choice(_phrasings(middle.phrases, dev=self.dev)).format(x=name)
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
        most = 12 if self.relations_only else 6
        negatives = self.rng.sample(self.open_labels, min(len(self.open_labels), self.rng.randint(2, most)))
        words = set(relation.lower().split())
        kept = [n for n in negatives if not words & set(n.lower().split())]
        labels = [relation, *kept]
        self.rng.shuffle(labels)
        if self.relations_only:
            return Example(text, {}, labels, [relation])
        found = [form for form in (subject, thing) if form[:1].isupper() and form in text]
        return Example(text, {UNTYPED: found}, labels, [relation])

    def _sentence(self) -> Example:
        text, hits = self.rng.choice(self.sentences)
        return self._labelled(text, hits, [], [])

    def _labelled(
        self, text: str, pairs: Sequence[tuple[str, str]], asked: list[str], families: Sequence[Family]
    ) -> Example:
        if self.relations_only:
            return Example(text, {}, *self._relations(asked, families))
        forms = [(name.strip('"'), kind) for name, kind in pairs]
        if self.rng.random() < (0.6 if self.dev else UNTYPED_SHARE):
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
        return Example(text, _shuffled(self.rng, entities), *self._relations(asked, families))

    def _relations(self, asked: list[str], families: Sequence[Family]) -> tuple[list[str], list[str]]:
        """Return the labels to ask for, those that the question is after among them, and the latter alone."""
        others = [f for f in self.pool if not any(set(f.labels) & set(g.labels) for g in families)]
        most = 12 if self.dev or self.relations_only else 6
        wrong = [self.rng.choice(f.labels) for f in self.rng.sample(others, self.rng.randint(2, most))]
        labels = list(dict.fromkeys([*asked, *(w for w in wrong if w not in asked)]))
        self.rng.shuffle(labels)
        return labels, list(dict.fromkeys(asked))


def _shuffled(rng: random.Random, entities: Mapping[str, list[str]]) -> dict[str, list[str]]:
    items = list(entities.items())
    rng.shuffle(items)
    return dict(items)


def synthesise(
    catalogue: Catalogue, *, count: int, seed: int, dev: bool = False, relations_only: bool = False
) -> list[Example]:
    """Return `count` examples; the same arguments give the same examples.

    Args:
        catalogue: names, sentences and triples.
        count: how many.
        seed: of the generator.
        dev: draw from the held-out names, phrasings and families instead of those for training.
        relations_only: every example asks for relation labels alone, and for more of them.
    """
    source = _Synthesiser(catalogue, seed=seed, dev=dev, relations_only=relations_only)
    return [source.draw() for _ in range(count)]
