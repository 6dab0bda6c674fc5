"""Soundex: strings that sound alike in English get one code, so that a misspelling still finds its name."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import lru_cache

from latence_retrieval.text.similarity import FUZZY_SWITCH

__all__ = ["plain_soundex", "soundex"]

_LETTERS = re.compile("[^a-z]+")
_CODES = str.maketrans("abcdefghijklmnopqrstuvwxyz", "01230120022455012623010202")
_SILENT = re.compile("[hw]")
_LENGTH = 4


def soundex(form: str) -> str:
    """Return the American Soundex code of a normal form, such as "a341"; "" where it has no Latin letter.

    Everything but the letters a to z is left out first, spaces included: the code is of the whole name.

    Args:
        form: a normal form (`text.normalise`): lower case, without accents.
    """
    letters = _LETTERS.sub("", form)
    return _coder()(letters) if letters else ""


def plain_soundex(letters: str) -> str:
    """Return the code of a non-empty string of letters a to z.

    The rules of the United States National Archives ("The Soundex Indexing System", 2007): letters with one code
    count once if they are neighbours, also across h and w, but not across a vowel.
    """
    codes = _SILENT.sub("", letters[1:]).translate(_CODES)
    code = letters[0]
    last = code.translate(_CODES)
    for digit in codes:
        if digit != last:
            last = digit
            if digit != "0":
                code += digit
                if len(code) == _LENGTH:
                    return code
    return code.ljust(_LENGTH, "0")


@lru_cache(maxsize=1)
def _coder() -> Callable[[str], str]:
    """Return jellyfish's coder where it is installed, else our own; they agree (tests hold them to it)."""
    if os.environ.get(FUZZY_SWITCH) != "0":
        try:
            from jellyfish import soundex as coder
        except ModuleNotFoundError:
            return plain_soundex
        return lambda letters: coder(letters).lower()
    return plain_soundex
