"""Sentence boundaries by rule, for mention hyperedges: no model, no language data, offsets kept."""

from __future__ import annotations

import re

__all__ = ["sentence_pieces", "sentence_spans"]

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

_LONGEST_ABBREVIATION = 6  # of letters alone: approx


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Return half-open character spans of the sentences, in order, without surrounding white space.

    A full stop after a single letter or a common abbreviation ends nothing. Together the spans cover every
    character that is not white space.
    """
    spans: list[tuple[int, int]] = []
    for begin, end in sentence_pieces(text):
        piece = text[begin:end]
        start = end - len(piece.lstrip())
        spans.append((start, start + len(piece.strip())))
    return spans


def sentence_pieces(text: str) -> list[tuple[int, int]]:
    """Return the spans of the sentences with the white space around them: they follow each other without a gap.

    White space alone is no sentence; there alone is a gap.
    """
    begin = 0
    pieces: list[tuple[int, int]] = []
    for match in _BOUNDARY.finditer(text):
        at, end = match.span()
        mark = text[at]
        if mark == "." and not _is_long_word(text, begin, at) and _ABBREVIATION.search(text[max(begin, at - 8) : at]):
            continue
        if mark != "\n" or not text[begin:end].isspace():
            pieces.append((begin, end))
        begin = end
    if begin < len(text) and not text[begin:].isspace():
        pieces.append((begin, len(text)))
    return pieces


def _is_long_word(text: str, begin: int, at: int) -> bool:
    """Return whether a word longer than any abbreviation ends before `at`: a quick test that spares a search."""
    return at - begin > _LONGEST_ABBREVIATION and text[at - _LONGEST_ABBREVIATION - 1 : at].isalpha()
