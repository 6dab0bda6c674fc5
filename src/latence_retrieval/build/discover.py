"""Find further entities without a model: capitalised phrases that recur across chunks.

A phrase is a run of capitalised words, joined by lower-case particles inside it, without function words at its ends.
It becomes an entity where at least two chunks have it and no catalogue form equals it; a single word must besides be
written with a capital most of the time, sentence beginnings left out of the count.

The first word of a sentence has its capital from its place. Where a particle joins it to the rest ("Today the Grey
Heron Society", "Battle of Brack"), it belongs to the phrase only if it is a name word: written with a capital within
sentences too. Else the phrase begins after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from latence_retrieval.build.annotate import Annotated
from latence_retrieval.text.match import FUNCTION_WORDS, Case

__all__ = ["LONGEST_PHRASE_TOKENS", "MIN_PHRASE_CHUNKS", "SHORTEST_WORD", "Phrase", "phrases"]

LONGEST_PHRASE_TOKENS = 8
LONGEST_PHRASE_CHARACTERS = 256  # bound: an id may have 4,096, and nobody's name is a line of hexadecimal
MIN_PHRASE_CHUNKS = 2
SHORTEST_WORD = 3  # characters of a phrase of one word

_PARTICLES = frozenset("of the de la le von van der du del di da dos el al bin ibn and y for".split())


class Phrase(NamedTuple):
    """A phrase; where `opener` is given, it is one only if that first word of a sentence is a name word, or is none."""

    text: str
    opener: str | None = None
    needs_name: bool = False


def phrases(annotated: Annotated) -> Iterator[Phrase]:
    """Yield the capitalised phrases of one chunk in order, repetitions included."""
    forms, cases, sentences, joins = annotated
    count = len(forms)
    at = 0
    while at < count:
        if cases[at] != Case.UPPER:
            at += 1
            continue
        last = at
        probe = at
        while probe + 1 < count and joins[probe] and sentences[probe + 1] == sentences[probe]:
            probe += 1
            if cases[probe] == Case.UPPER:
                last = probe
            elif forms[probe] not in _PARTICLES:
                break
        begins = at == 0 or sentences[at] != sentences[at - 1]
        if begins and last > at and cases[at + 1] != Case.UPPER and forms[at] not in FUNCTION_WORDS:
            second = next(place for place in range(at + 1, last + 1) if cases[place] == Case.UPPER)
            yield from (Phrase(text, forms[at], needs_name=True) for text in _cut(forms[at : last + 1]))
            yield from (Phrase(text, forms[at]) for text in _cut(forms[second : last + 1]))
        else:
            yield from map(Phrase, _cut(forms[at : last + 1]))
        at = last + 1


def _cut(words: list[str]) -> Iterator[str]:
    """Yield the phrase without function words at its ends, and what stands between its "and"s."""
    whole = _trimmed(words)
    if whole:
        yield " ".join(whole)
    if "and" in whole:
        part: list[str] = []
        for word in [*whole, "and"]:
            if word == "and":
                trimmed = _trimmed(part)
                if trimmed:
                    yield " ".join(trimmed)
                part = []
            else:
                part.append(word)


def _trimmed(words: list[str]) -> list[str]:
    start, stop = 0, len(words)
    while start < stop and words[start] in FUNCTION_WORDS:
        start += 1
    while stop > start and words[stop - 1] in FUNCTION_WORDS:
        stop -= 1
    found = words[start:stop] if stop - start <= LONGEST_PHRASE_TOKENS else []
    return found if sum(map(len, found)) <= LONGEST_PHRASE_CHARACTERS else []
