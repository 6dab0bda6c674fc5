"""The one normalisation of names and queries, versioned because published sidecars depend on it.

Two strings are the same name here when their normal forms are equal: case, accents, full width, apostrophes and
possessives, punctuation, the spacing of codes (`AX-100`, `AX 100`, `AX100`) and of initials (`J. R. R.`, `JRR`)
make no difference. Letters of scripts that mark vowels by combining characters keep them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["NORMALISER_VERSION", "fold", "normalise", "strip_disambiguator"]

NORMALISER_VERSION = 1
"""Raised with any change that gives some text another normal form; checked when a sidecar is opened."""

# Letters that no Unicode decomposition takes apart, with their usual transliteration (ICU Latin-ASCII).
_TRANSLITERATED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t"}
)

# Marks that accent a letter rather than spell a vowel: Latin, Greek and Cyrillic accents, Hebrew points, Arabic
# harakat, the joiners and variation selectors that only affect display, and the apostrophe that folding makes of ŉ.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\u00ad\u02bc]"
)

_DISAMBIGUATOR = re.compile(r"[(（][^()（）]*[)）]\s*$")  # noqa: RUF001 - full-width brackets are meant


@lru_cache(maxsize=65_536)
def fold(text: str) -> str:
    """Return `text` without case, accents and compatibility forms; its words and punctuation stay.

    NFKC, full case folding, removal of accents (not of vowel signs), NFC, and transliteration of the Latin
    letters that have no decomposition (ø, ł, æ and their like).
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _ACCENTS.sub("", decomposed)).translate(_TRANSLITERATED)


def normalise(text: str) -> str:
    """Return the normal form of a name: its folded tokens joined by single spaces.

    Total and idempotent. The empty string comes back where the text has no letter and no digit.
    """
    from latence_retrieval.text.tokenise import tokenise

    return " ".join(token.form for token in tokenise(text))


def strip_disambiguator(name: str) -> str:
    """Return `name` without a bracketed ending (`The Zone (2017 film)` gives `The Zone`), if anything is left."""
    bracket = _DISAMBIGUATOR.search(name)
    head = name if bracket is None else name[: bracket.start()].rstrip()
    return head or name
