"""Link mentions in the chunks' text to entities, with the matcher that tier 1 uses on queries.

Three passes over the annotated chunks, each streamed: collect recurring phrases (where asked for), match forms and
count how each is written, then settle every mention. A form's *link probability* is the part of its occurrences
that are written as a name (Mihalcea and Csomai 2007 call it keyphraseness), by which "fall" is told from "Fall".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from latence_retrieval.build.annotate import Annotated, unpack_annotated
from latence_retrieval.build.discover import MIN_PHRASE_CHUNKS, SHORTEST_WORD, phrases
from latence_retrieval.build.load import add_entity
from latence_retrieval.build.progress import Progress
from latence_retrieval.build.scratch import Scratch
from latence_retrieval.build.spill import SpillSorter
from latence_retrieval.records import Entity
from latence_retrieval.sidecar.codec import AliasFlag
from latence_retrieval.text.match import FUNCTION_WORDS, Match, find_matches, is_written_as_name, longest_first
from latence_retrieval.text.tokenise import is_spaceless

__all__ = ["DISCOVERED_ID_PREFIX", "MIN_LINK_PROBABILITY", "discover_entities", "link_probability", "match_mentions"]

DISCOVERED_ID_PREFIX = "phrase:"
MIN_LINK_PROBABILITY = 0.5
"""A single word that begins a sentence, or is to become an entity, must be written as a name this often."""

_DISCOVERED = int(AliasFlag.DISCOVERED)  # a plain number: a flag of the enum takes some twenty times as long to test
_MAX_LOOKUPS_A_CHUNK = 20_000  # n-grams; a chunk of 5,000 words stays whole
_MAX_COUNTED_FORMS = 200_000  # forms counted in memory before the counts are written out


def _annotated(scratch: Scratch) -> Iterator[tuple[int, Annotated]]:
    for number, forms, marks in scratch.rows("SELECT n, forms, marks FROM chunk ORDER BY n"):
        yield number, unpack_annotated(forms, marks)


def discover_entities(scratch: Scratch, *, directory: Path, max_memory_bytes: int, progress: Progress) -> int:
    """Add the phrases that recur across chunks as discovered entities, in alphabetical order; return how many.

    A phrase that equals a catalogue form is not added: the catalogue has it.
    """
    openers: set[str] = set()
    with SpillSorter(directory, max_memory_bytes=max_memory_bytes) as found:
        with progress.stage("phrases") as tick:
            for number, annotated in _annotated(scratch):
                for phrase in dict.fromkeys(phrases(annotated)):
                    condition = b""
                    if phrase.opener is not None:
                        openers.add(phrase.opener)
                        condition = bytes((phrase.needs_name,)) + phrase.opener.encode()
                    found.add(phrase.text.encode(), number.to_bytes(4, "big") + condition)
                tick()
        written = _count_words(scratch, openers)
        names = {word for word, (_, as_name) in written.items() if as_name and _is_mostly_name(written[word])}
        recurring = [
            phrase.decode()
            for phrase, rows in groupby(found, key=lambda row: row[0])
            if len({row[1][:4] for row in rows if _holds(row[1][4:], names)}) >= MIN_PHRASE_CHUNKS
        ]
    candidates = [
        phrase for phrase in recurring if scratch.one("SELECT 1 FROM alias WHERE form = ?", (phrase,)) is None
    ]
    words = {phrase for phrase in candidates if " " not in phrase}
    written = _count_words(scratch, words)
    number = scratch.count("entity")
    added = 0
    for phrase in candidates:
        if phrase in words and not (len(phrase) >= SHORTEST_WORD and _is_mostly_name(written.get(phrase, (0, 0)))):
            continue
        if scratch.one("SELECT 1 FROM entity WHERE id = ?", (DISCOVERED_ID_PREFIX + phrase,)) is not None:
            continue  # the catalogue has that id for something else
        entity = Entity(id=DISCOVERED_ID_PREFIX + phrase, name=phrase, discovered=True)
        add_entity(scratch, number + added, entity)
        scratch.run("UPDATE alias SET flags = flags | ? WHERE form = ?", (int(AliasFlag.CASED), phrase))
        added += 1
    scratch.forget()
    return added


def _holds(condition: bytes, names: Collection[str]) -> bool:
    """Return whether what a phrase depends on is so: its sentence's first word is a name word, or is none."""
    return not condition or bool(condition[0]) == (condition[1:].decode() in names)


def _is_mostly_name(counts: tuple[int, int]) -> bool:
    return link_probability(*counts) >= MIN_LINK_PROBABILITY


def link_probability(all_of_it: int, as_name: int) -> float:
    """Return how much an occurrence of a form is likely to be a name, smoothed towards one half."""
    return (as_name + 0.5) / (all_of_it + 1.0)


def match_mentions(scratch: Scratch, *, longest: int, progress: Progress) -> None:
    """Fill the scratch tables `mention` and `occurrence` from the text of all chunks."""
    counts: Counter[str] = Counter()
    named: Counter[str] = Counter()
    heads, flags = _heads(scratch), _flags(scratch)
    with progress.stage("linking") as tick:
        for number, annotated in _annotated(scratch):
            matches, _ = find_matches(
                annotated.forms,
                longest=longest,
                heads=heads,
                look_up=flags,
                max_lookups=_MAX_LOOKUPS_A_CHUNK,
            )
            judged = [_judge(annotated, match) for match in matches]
            for mention in judged:
                if not mention.is_weak:
                    counts[mention.match.form] += 1
                    named[mention.match.form] += mention.is_name
            candidates = [mention.match for mention in judged if mention.may_stand]
            standing = {id(match) for match in longest_first(candidates, is_guess=_is_phrase)}
            scratch.many(
                "INSERT INTO mention VALUES (?, ?, ?, ?)",
                [
                    (number, annotated.sentences[mention.match.start], mention.match.form, mention.is_weak)
                    for mention in judged
                    if id(mention.match) in standing
                ],
            )
            if len(counts) > _MAX_COUNTED_FORMS:
                _write_counts(scratch, counts, named)
            tick()
    _write_counts(scratch, counts, named)


class _Judged(NamedTuple):
    match: Match[int]
    is_name: bool
    is_weak: bool  # a single word at the start of a sentence: its capital says nothing
    may_stand: bool


def _is_phrase(match: Match[int]) -> bool:
    """Return whether the builder discovered what matches: a guess, which shuts out no name of the catalogue (adr/0037)."""
    return bool(match.found & _DISCOVERED)


def _judge(annotated: Annotated, match: Match[int]) -> _Judged:
    forms, cases, sentences, _ = annotated
    start, stop = match.start, match.stop
    is_name = is_written_as_name(forms, cases, start, stop)
    single = stop - start == 1
    begins = start == 0 or sentences[start] != sentences[start - 1]
    is_weak = single and begins and not is_spaceless(forms[start])
    may_stand = is_name or not match.found & AliasFlag.CASED
    if single and (len(forms[start]) == 1 or forms[start].isdigit() or forms[start] in FUNCTION_WORDS):
        may_stand = False
    return _Judged(match, is_name, is_weak, may_stand)


def _heads(scratch: Scratch) -> Callable[[Sequence[str]], list[int]]:
    query = "SELECT longest FROM head WHERE token = ?"
    return lambda heads: [scratch.cached(query, head) or 0 for head in heads]


def _flags(scratch: Scratch) -> Callable[[Sequence[str]], list[int | None]]:
    """Look a form up: flags that every candidate has; acronyms that were derived are not linked in text."""
    query = "SELECT min(flags & 4) | min(flags & 8) FROM alias WHERE form = ? AND flags & 16 = 0"
    return lambda grams: [scratch.cached(query, gram) for gram in grams]


def _write_counts(scratch: Scratch, counts: Counter[str], named: Counter[str]) -> None:
    scratch.many(
        "INSERT INTO occurrence VALUES (?, ?, ?) ON CONFLICT (form) DO UPDATE SET"
        " all_of_it = all_of_it + excluded.all_of_it, as_name = as_name + excluded.as_name",
        [(form, count, named[form]) for form, count in counts.items()],
    )
    counts.clear()
    named.clear()


def _count_words(scratch: Scratch, words: set[str]) -> dict[str, tuple[int, int]]:
    """Count how often single words occur, and how often as a name, sentence beginnings left out."""
    if not words:
        return {}
    counts: dict[str, list[int]] = {word: [0, 0] for word in words}
    for _, (forms, cases, sentences, _) in _annotated(scratch):
        for at, form in enumerate(forms):
            entry = counts.get(form)
            if entry is not None and at > 0 and sentences[at] == sentences[at - 1]:
                entry[0] += 1
                entry[1] += is_written_as_name(forms, cases, at, at + 1)
    return {word: (entry[0], entry[1]) for word, entry in counts.items()}
