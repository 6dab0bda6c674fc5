"""The default token counter: an estimate that no tokenizer has to be installed for."""

from __future__ import annotations

import re

__all__ = ["estimate_tokens"]

_PIECES = re.compile(r"[A-Za-z]+|[0-9]+|[^\sA-Za-z0-9]")
_CHARACTERS_A_TOKEN = 4  # English prose under byte-pair encodings of some 100,000 entries


def estimate_tokens(text: str) -> int:
    """Return an estimate of the tokens in `text`, meant to err on the high side.

    The larger of two counts: a token per four ASCII characters and per other character, and a token per word,
    number and punctuation mark. Give a real tokenizer's counter where the budget is tight; adr/0005 has the error
    against one.
    """
    ascii_characters = len(text.encode("ascii", "ignore"))
    by_length = -(-ascii_characters // _CHARACTERS_A_TOKEN) + (len(text) - ascii_characters)
    return max(by_length, len(_PIECES.findall(text)))
