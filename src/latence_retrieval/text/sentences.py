"""Sentence boundaries by rule, for mention hyperedges: no model, no language data, offsets kept."""

from __future__ import annotations

import re

__all__ = ["sentence_spans"]

# Each boundary begins with one of a set of characters, so that the engine skips all others.
_BOUNDARY = re.compile(
    r"[.!?\u2026\u3002\uff01\uff1f\n](?:"
    r"(?<=[.!?\u2026])(?<![.!?\u2026]{2})[.!?\u2026]*+[\"'\u201d\u2019)\]]*+\s++(?=[\"'\u201c\u2018(\[]*[^\W_a-z])"
    r"|(?<=[\u3002\uff01\uff1f])[\u3002\uff01\uff1f]*"
    r"|(?<=\n)\s*\n)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Za-z]|Mr|Mrs|Ms|Dr|Prof|St|Mt|Jr|Sr|Gen|Col|Lt|Sgt|Capt|Rev|Hon|Gov|Sen|Rep|No|Nr|Vol|Fig|vs|cf|ca|c"
    r"|approx|Inc|Ltd|Co|Corp|Bros|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|e\.g|i\.e|U\.S|U\.K))$"
)


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return half-open character spans of the sentences, in order, without surrounding white space.

    A full stop after a single letter or a common abbreviation ends nothing. Together the spans cover every
    character that is not white space.
    """
    spans: list[tuple[int, int]] = []
    begin = 0
    for match in _BOUNDARY.finditer(text):
        if match.group()[0] == "." and _ABBREVIATION.search(text[max(begin, match.start() - 8) : match.start()]):
            continue
        _append(spans, text, begin, match.end())
        begin = match.end()
    _append(spans, text, begin, len(text))
    return spans


def _append(spans: list[tuple[int, int]], text: str, begin: int, end: int) -> None:
    piece = text[begin:end]
    stripped = piece.strip()
    if stripped:
        start = begin + len(piece) - len(piece.lstrip())
        spans.append((start, start + len(stripped)))
