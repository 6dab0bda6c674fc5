"""Stemming, pluggable: a stemmer is any deterministic function from a token's normal form to its stem.

The default takes English plurals off and leaves every other word alone; stronger stemmers lost on one question set
what they won on another (adr/0012). `snowballstemmer.stemmer("german").stemWord` and its like fit as they are.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

__all__ = ["Stemmer", "stem_english"]

Stemmer = Callable[[str], str]
"""From a token in normal form to its stem. Must be deterministic: an index and its queries are stemmed apart."""

_SHORTEST = 4


@lru_cache(maxsize=65_536)
def stem_english(form: str) -> str:
    """Take the plural off an English word, and nothing else.

    The "S" stemmer of Harman (1991), "How effective is suffixing?", JASIS 42(1). Words of fewer than four
    letters and words outside ASCII stay as they are.
    """
    if len(form) < _SHORTEST or not form.isascii() or not form.endswith("s"):
        return form
    if form.endswith("ies"):
        return form[:-3] + "y" if form[-4] not in "ae" else form
    if form.endswith("es"):
        return form[:-1] if form[-3] not in "aeo" else form
    return form[:-1] if form[-2] not in "us" else form
