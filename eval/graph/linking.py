"""A plain linker: titles and recurring capitalised phrases, found in text by longest match.

It is the reference that any adopter could write in an afternoon. Titles lose a bracketed disambiguator
("Rush (band)" is written "Rush"), and a capitalised phrase becomes an entity when two passages or more hold
it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval.data.records import Passage

__all__ = ["MAX_FORM_WORDS", "Forms", "LinkedCorpus", "form_of", "forms_of_names", "link_corpus", "plain_title"]

MAX_FORM_WORDS = 10
MIN_PASSAGES_OF_PHRASE = 2
MAX_SHARE_OF_PHRASE = 0.02
"""A phrase in more than one passage in fifty ("The", "American") says nothing about what a question is
about."""

_BRACKET = re.compile(r"\s*\([^()]*\)\s*$")
_WORD = re.compile(r"\w+")
_PHRASE = re.compile(
    r"\b[A-Z][\w'\u2019.-]*(?:\s+(?:of|the|de|la|von|van|and)\s+[A-Z][\w'\u2019.-]*|\s+[A-Z][\w'\u2019.-]*)*"
)
_ORDINARY = frozenset(
    [
        "a",
        "an",
        "the",
        "he",
        "she",
        "it",
        "they",
        "we",
        "i",
        "in",
        "on",
        "at",
        "of",
        "for",
        "and",
        "but",
        "or",
        "as",
        "by",
        "to",
        "from",
        "with",
        "this",
        "that",
        "these",
        "those",
        "his",
        "her",
        "its",
        "their",
        "who",
        "which",
        "what",
        "when",
        "where",
        "how",
        "is",
        "was",
        "are",
        "were",
        "after",
        "before",
        "during",
        "while",
        "since",
        "although",
        "if",
        "not",
        "no",
    ]
)


def plain_title(title: str) -> str:
    """Return the title without its bracketed disambiguator; a title of nothing else stays."""
    return _BRACKET.sub("", title).strip() or title.strip()


def _tokens(text: str) -> list[tuple[str, int, int]]:
    found = []
    for match in _WORD.finditer(text):
        plain = unicodedata.normalize("NFKD", match.group()).casefold()
        word = "".join(char for char in plain if not unicodedata.combining(char))
        found.append((word, match.start(), match.end()))
    return found


def form_of(text: str) -> tuple[str, ...]:
    """Return the words of a name as they are matched: accents dropped, case folded."""
    return tuple(word for word, _, _ in _tokens(text))


@dataclass(frozen=True)
class Forms:
    """The forms by which text names entities, and the longest form that starts with each word."""

    by_form: Mapping[tuple[str, ...], tuple[int, ...]]
    longest: Mapping[str, int]

    def link(self, text: str) -> list[tuple[int, int, int]]:
        """Return (entity, start, end) for every form in `text`, longest match first, left to right."""
        return _scan(text, self.by_form, self.longest)


@dataclass(frozen=True)
class LinkedCorpus:
    """Entities of a corpus, their forms, and per passage what it is about and what it mentions how often."""

    names: tuple[str, ...]
    about: tuple[tuple[int, ...], ...]
    mentions: tuple[Mapping[int, int], ...]
    forms: Forms


def forms_of_names(names: Sequence[Sequence[str]]) -> Forms:
    """Return the forms of entities, given for each, by number, the names that it goes by."""
    forms: dict[tuple[str, ...], list[int]] = {}
    for number, own in enumerate(names):
        for form in dict.fromkeys(form for name in own for form in (form_of(plain_title(name)), form_of(name))):
            if 0 < len(form) <= MAX_FORM_WORDS:
                forms.setdefault(form, []).append(number)
    return _forms(forms)


def _forms(forms: Mapping[tuple[str, ...], Sequence[int]]) -> Forms:
    longest: dict[str, int] = {}
    for form in forms:
        longest[form[0]] = max(longest.get(form[0], 0), len(form))
    return Forms(by_form={form: tuple(found) for form, found in forms.items()}, longest=longest)


def _scan(
    text: str, by_form: Mapping[tuple[str, ...], tuple[int, ...]], longest: Mapping[str, int]
) -> list[tuple[int, int, int]]:
    tokens = _tokens(text)
    found: list[tuple[int, int, int]] = []
    place = 0
    while place < len(tokens):
        for length in range(min(longest.get(tokens[place][0], 0), len(tokens) - place), 0, -1):
            window = tokens[place : place + length]
            form = tuple(word for word, _, _ in window)
            if form not in by_form or not _named(text, window):
                continue
            found.extend((entity, window[0][1], window[-1][2]) for entity in by_form[form])
            place += length - 1
            break
        place += 1
    return found


def _named(text: str, window: Sequence[tuple[str, int, int]]) -> bool:
    """Say whether some word that is not ordinary starts in upper case or is a number."""
    return any((text[start].isupper() or text[start].isdigit()) and word not in _ORDINARY for word, start, _ in window)


def link_corpus(passages: Sequence[Passage]) -> LinkedCorpus:
    """Find entities in the corpus and link every passage to them."""
    names: list[str] = []
    number: dict[str, int] = {}
    about: list[tuple[int, ...]] = []
    forms: dict[tuple[str, ...], list[int]] = {}
    for passage in passages:
        title = passage.title.strip()
        if not form_of(title):
            about.append(())
            continue
        if title not in number:
            number[title] = len(names)
            names.append(title)
            for form in {form_of(plain_title(title)), form_of(title)}:
                if 0 < len(form) <= MAX_FORM_WORDS:
                    forms.setdefault(form, []).append(number[title])
        about.append((number[title],))
    for phrase, form in _phrases(passages):
        if form not in forms:
            forms[form] = [len(names)]
            names.append(phrase)
    found_forms = _forms(forms)
    mentions = []
    for passage, subjects in zip(passages, about, strict=True):
        counts = Counter(entity for entity, _, _ in found_forms.link(passage.text))
        for subject in subjects:
            counts[subject] += 1
        mentions.append(dict(sorted(counts.items())))
    return LinkedCorpus(names=tuple(names), about=tuple(about), mentions=tuple(mentions), forms=found_forms)


def _phrases(passages: Sequence[Passage]) -> list[tuple[str, tuple[str, ...]]]:
    holders: Counter[tuple[str, ...]] = Counter()
    written: dict[tuple[str, ...], str] = {}
    for passage in passages:
        seen = set()
        for match in _PHRASE.finditer(passage.text):
            form = form_of(match.group())
            while form and form[0] in _ORDINARY:
                form = form[1:]
            if not 0 < len(form) <= MAX_FORM_WORDS or all(word in _ORDINARY for word in form):
                continue
            seen.add(form)
            written.setdefault(form, match.group())
        holders.update(seen)
    most = max(MIN_PASSAGES_OF_PHRASE, int(len(passages) * MAX_SHARE_OF_PHRASE))
    kept = [form for form, count in holders.items() if MIN_PASSAGES_OF_PHRASE <= count <= most]
    return [(written[form], form) for form in sorted(kept)]
