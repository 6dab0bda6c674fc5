"""A chunk's text as the linker sees it: tokens, their case, their sentence, and where a phrase cannot go on."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from latence_retrieval.text.match import letter_cases
from latence_retrieval.text.sentences import sentence_pieces
from latence_retrieval.text.tokenise import Words

__all__ = ["Annotated", "annotate", "pack_annotated", "sentence_ends", "unpack_annotated"]

_PHRASE_GAPS = frozenset({" ", "-", "", " & ", ". ", "\u2013"})


class Annotated(NamedTuple):
    """Parallel per token: normal form, `Case` byte, sentence number, and whether a phrase may span the gap after it."""

    forms: list[str]
    cases: bytes
    sentences: array[int]
    joins: bytes


def sentence_ends(text: str, places: Sequence[int]) -> list[int]:
    """Return where each sentence ends, in tokens (that start at `places`); one without a token ends where it begins."""
    pieces = sentence_pieces(text)
    return [*(bisect_left(places, begin) for begin, _ in pieces[1:]), len(places)]


def annotate(text: str, words: Words, ends: Sequence[int]) -> Annotated:
    """Return what the linker wants to know of a text that is tokenised already, its `sentence_ends` given."""
    tokens = words.tokens()
    joins = bytearray()
    for token, after in pairwise(tokens):
        gap = text[token.end : after.start]
        joins.append(gap in _PHRASE_GAPS and (gap != ". " or len(token.form) <= 2))
    joins.append(0)
    sentences: array[int] = array("I")
    for number, end in enumerate(ends):
        sentences.extend([number] * (end - len(sentences)))
    return Annotated(words.forms, letter_cases(text, tokens), sentences, bytes(joins))


def pack_annotated(annotated: Annotated) -> tuple[str, bytes]:
    """Return the annotation as one text and one blob, for the build's scratch file."""
    return "\n".join(annotated.forms), annotated.cases + annotated.joins + annotated.sentences.tobytes()


def unpack_annotated(forms: str, blob: bytes) -> Annotated:
    """Read what `pack_annotated` wrote on this machine."""
    split = forms.split("\n") if forms else []
    count = len(split)
    sentences = array("I")
    sentences.frombytes(blob[len(blob) - 4 * count :])
    return Annotated(split, blob[:count], sentences, blob[count : 2 * count])


if array("I").itemsize != 4:  # pragma: no cover
    raise ImportError(f"this platform's unsigned int has {array('I').itemsize} bytes, expected 4 ({sys.platform})")
