"""The default token counter: an estimate that no tokenizer has to be installed for."""

from __future__ import annotations

__all__ = ["estimate_tokens"]

_CHARACTERS_A_TOKEN = 4  # English prose under byte-pair encodings of some 100,000 entries
_DIGITS = b"0123456789"
_MARKS = b".,;:!?()[]\"'-/%&+=*#"


def estimate_tokens(text: str) -> int:
    """Return an estimate of the tokens in `text`, meant to err on the high side.

    The larger of two counts: a token per four ASCII characters and per other character; and a token per word between
    white space, per punctuation mark and per two digits. Give a real tokenizer's counter where the budget is tight; adr/0005 has the
    error against one.
    """
    plain = text.encode("ascii", "ignore")
    ascii_characters = len(plain)
    by_length = -(-ascii_characters // _CHARACTERS_A_TOKEN) + (len(text) - ascii_characters)
    digits = ascii_characters - len(plain.translate(None, _DIGITS))
    marks = ascii_characters - len(plain.translate(None, _MARKS))
    return max(by_length, len(text.split()) + marks + (digits + 1) // 2)
