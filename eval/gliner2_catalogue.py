"""The catalogue that training questions are synthesised from: names with silver types, sentences, triples.

Titles, passages and extracted triples of the corpora are read here; no question is.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Catalogue", "read_catalogue"]

SETS = ("2wiki_pooled", "hotpotqa_pooled", "musique_pooled")

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
class Catalogue:
    """Names by type, sentences that mention names, and extracted triples."""

    names: Mapping[str, Sequence[str]]
    sentences: Sequence[tuple[str, Sequence[tuple[str, str]]]]
    triples: Sequence[tuple[str, str, str]]


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
