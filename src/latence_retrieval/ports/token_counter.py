"""How many tokens a text costs in the caller's prompt."""

from __future__ import annotations

from typing import Protocol

__all__ = ["TokenCounter"]


class TokenCounter(Protocol):
    """Any callable from text to a count: `len(encoding.encode(text))` of a real tokenizer fits.

    Must be deterministic and return an integer of at least zero. It need not be additive: the selection counts
    the text that it would really pack.
    """

    def __call__(self, text: str, /) -> int:
        """Return the number of tokens in `text`."""
        ...
