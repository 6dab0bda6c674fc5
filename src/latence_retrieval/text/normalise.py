"""The one normalisation of names and queries, versioned because published sidecars depend on it.

Two strings are the same name here when their normal forms are equal: case, accents, full width, apostrophes and
possessives, punctuation, the spacing of codes (`AX-100`, `AX 100`, `AX100`) and of initials (`J. R. R.`, `JRR`)
make no difference. Letters of scripts that mark vowels by combining characters keep them.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["NORMALISER_VERSION", "fold", "narrow", "normalise", "strip_disambiguator"]

NORMALISER_VERSION = 2
"""Raised with any change that gives some text another normal form; checked when a sidecar is opened."""

# Letters that no Unicode decomposition takes apart: Latin ones by their usual transliteration (ICU Latin-ASCII), Arabic
# ones that writers and keyboards exchange by the one that Lucene's Arabic and Persian normalisers keep.
_TRANSLITERATED = str.maketrans(
    dict(zip("øłđðıħŧəǝɛɔŋɓɗƙƴƶɨ", "olddihteeeonbdkyzi", strict=True))
    | {"þ": "th", "æ": "ae", "œ": "oe", "\u06cc": "\u064a", "\u0649": "\u064a", "\u06a9": "\u0643", "\u0629": "\u0647"}
)
_ALEF_MARKS = re.compile("(?<=\u0627)[\u0653-\u0655]+")  # madda and hamza, which many leave out

# Marks that accent a letter rather than spell a vowel: Latin, Greek and Cyrillic accents, Hebrew points, Arabic
# harakat, the joiners and variation selectors that only affect display, and the apostrophe that folding makes of ŉ.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0640\u064b-\u0652\u0670"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u2060\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f\ufeff\u00ad\u02bc]"
)

_WIDE = re.compile("[\uff01-\uff5e\u3000]")
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 0x20}

_DISAMBIGUATOR = re.compile(r"\([^()]*\)\s*$")


@lru_cache(maxsize=65_536)
def fold(text: str) -> str:
    """Return `text` without case, accents and compatibility forms; its words and punctuation stay.

    NFKC, full case folding, removal of accents (not of vowel signs), NFC, and one letter for those that are written
    for each other and have no decomposition (ø, ł, æ and their like; the two yehs and kafs of Arabic script).
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    bare = _ALEF_MARKS.sub("", _ACCENTS.sub("", decomposed))
    return unicodedata.normalize("NFC", bare.translate(_TRANSLITERATED))


def narrow(text: str) -> str:
    """Return `text` with full-width letters, digits and signs as their ASCII twins, character for character."""
    return text if text.isascii() or _WIDE.search(text) is None else text.translate(_NARROW)


def normalise(text: str) -> str:
    """Return the normal form of a name: its folded tokens joined by single spaces.

    Total and idempotent. The empty string comes back where the text has no letter and no digit.
    """
    from latence_retrieval.text.tokenise import tokenise

    return " ".join(token.form for token in tokenise(text))


def strip_disambiguator(name: str) -> str:
    """Return `name` without a bracketed ending (`The Zone (2017 film)` gives `The Zone`), if anything is left."""
    bracket = _DISAMBIGUATOR.search(narrow(name))
    head = name if bracket is None else name[: bracket.start()].rstrip()
    return head or name
