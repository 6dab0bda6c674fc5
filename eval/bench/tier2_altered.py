"""Questions whose names were altered so that an alias table misses them: lower-cased, cut short, misspelt, initialled.

The alterations are drawn from one seed and touch only the characters of the gold anchors.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from eval.data.records import GoldAnchor, Question

__all__ = ["ALTERATIONS", "DRAWN", "altered"]

_PARTICLES = frozenset({"the", "a", "an", "of", "and", "in", "on", "de", "van", "von"})


def _cut_short(name: str, rng: random.Random) -> str:
    """Keep the last word of a two-word name, else drop the last word; a name of one word loses its last letter."""
    del rng
    words = name.split()
    if len(words) == 1:
        return name[:-1] if len(name) > 4 else name
    kept = words[-1:] if len(words) == 2 else words[:-1]
    return " ".join(kept) if any(word.lower() not in _PARTICLES for word in kept) else name


def _misspelt(name: str, rng: random.Random) -> str:
    """Swap two neighbouring letters in the longest word, or drop one where they are equal."""
    words = name.split(" ")
    place = max(range(len(words)), key=lambda i: (len(words[i]), -i))
    word = words[place]
    if len(word) < 4:
        return name
    at = rng.randrange(1, len(word) - 2)
    left, right = word[at], word[at + 1]
    words[place] = word[:at] + (right + left if left != right else left) + word[at + 2 :]
    return " ".join(words)


def _initialled(name: str, rng: random.Random) -> str:
    """Shorten the first of several words to its initial; of a name that starts with an article, drop that."""
    del rng
    words = name.split()
    if len(words) < 2:
        return name
    if words[0].lower() in _PARTICLES:
        return " ".join(words[1:])
    return " ".join([f"{words[0][0]}.", *words[1:]])


ALTERATIONS: Mapping[str, Callable[[str, random.Random], str] | None] = {
    "lower-cased": None,  # the whole question
    "cut short": _cut_short,
    "misspelt": _misspelt,
    "initialled": _initialled,
}

DRAWN = frozenset({"misspelt"})
"""Alterations that depend on the seed."""


def altered(question: Question, anchors: Sequence[GoldAnchor], kind: str, *, seed: int) -> Question | None:
    """Return the question with every anchor's name altered; None where nothing changes.

    Args:
        question: as it stands in the set.
        anchors: the gold passages that it names, with half-open character spans.
        kind: a key of `ALTERATIONS`.
        seed: of the letters that are chosen.
    """
    change = ALTERATIONS[kind]
    if change is None:
        text = question.text.lower()
    else:
        rng = random.Random(f"{seed}:{kind}:{question.id}")
        text = question.text
        for anchor in sorted(anchors, key=lambda item: -item.start):
            text = text[: anchor.start] + change(text[anchor.start : anchor.end], rng) + text[anchor.end :]
    return None if text == question.text else replace(question, text=text)
