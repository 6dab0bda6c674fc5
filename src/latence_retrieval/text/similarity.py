"""How alike two strings are, from 0.0 to 1.0, on their normal forms.

The measure is twice the longest common subsequence over both lengths (the normalised Indel similarity, `fuzz.ratio`
in RapidFuzz): symmetric, 1.0 exactly for equal strings. The subsequence is found bit-parallel in big integers;
where RapidFuzz is installed (extra `fuzzy`) it counts instead, and the score is computed from the same count.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache

from latence_retrieval.text.normalise import normalise

__all__ = ["common_subsequence", "name_similarity", "string_similarity"]

FUZZY_SWITCH = "LATENCE_RETRIEVAL_FUZZY"
"""Environment variable; "0" keeps to the standard library although RapidFuzz and jellyfish are installed."""


def string_similarity(left: str, right: str) -> float:
    """Return the similarity of two strings as they are, in [0, 1]; two empty strings are equal.

    Args:
        left: one string, usually a normal form.
        right: the other.
    """
    if left == right:
        return 1.0
    return 2.0 * _counter()(left, right) / (len(left) + len(right))


def name_similarity(left: str, right: str) -> float:
    """Return the similarity of two names by their normal forms: case, accents, width and NFC or NFD do not count."""
    return string_similarity(normalise(left), normalise(right))


def common_subsequence(left: str, right: str) -> int:
    """Return the length of the longest common subsequence.

    Hyyrö (2004), "Bit-parallel LCS-length computation revisited": one addition and three logical operations on
    integers of len(left) bits for each character of `right`.
    """
    places: dict[str, int] = {}
    bit = 1
    for character in left:
        places[character] = places.get(character, 0) | bit
        bit <<= 1
    mask = bit - 1
    row = mask
    find = places.get
    for character in right:
        matches = find(character)
        if matches is not None:
            kept = row & matches
            row = ((row + kept) | (row - kept)) & mask
    return len(left) - row.bit_count()


@lru_cache(maxsize=1)
def _counter() -> Callable[[str, str], int]:
    """Return RapidFuzz's count where it is installed, else our own; they agree (tests hold them to it)."""
    if os.environ.get(FUZZY_SWITCH) != "0":
        try:
            from rapidfuzz.distance.LCSseq import similarity
        except ModuleNotFoundError:
            return common_subsequence
        return similarity
    return common_subsequence
