"""Text for a screen: emphasis where the stream is a terminal, and cells rather than characters."""

from __future__ import annotations

import os
import shutil
import unicodedata
from collections.abc import Iterator
from typing import TextIO

__all__ = ["Terminal", "cells", "clipped", "padded", "wrapped"]

_WIDEST = 100  # columns; longer lines are hard to read
_NARROWEST = 60
_ELLIPSIS = "…"


class Terminal:
    """How to emphasise on one stream, and how wide it is.

    Colour is used on a terminal only, and not where NO_COLOR is set (https://no-color.org) or TERM is "dumb".
    """

    def __init__(self, stream: TextIO) -> None:
        """Look at the stream and at the environment once."""
        is_terminal = stream.isatty()
        self.is_coloured = is_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        columns = shutil.get_terminal_size((_WIDEST, 40)).columns if is_terminal else _WIDEST
        self.width = max(_NARROWEST, min(_WIDEST, columns))

    def bold(self, text: str) -> str:
        """Return `text` in bold."""
        return self._escaped("1", text)

    def dim(self, text: str) -> str:
        """Return `text` less bright."""
        return self._escaped("2", text)

    def good(self, text: str) -> str:
        """Return `text` in bold green."""
        return self._escaped("1;32", text)

    def name(self, text: str) -> str:
        """Return the name of an entity, in bold cyan."""
        return self._escaped("1;36", text)

    def _escaped(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.is_coloured and text else text


def cells(text: str) -> int:
    """Return how many columns `text` takes: wide East Asian characters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )


def clipped(text: str, width: int) -> str:
    """Return `text` on one line of at most `width` cells, with an ellipsis where something is left out."""
    line = " ".join(text.split())
    if cells(line) <= width:
        return line
    kept = ""
    for character in line:
        if cells(kept) + cells(character) > width - 1:
            break
        kept += character
    return kept.rstrip() + _ELLIPSIS


def padded(text: str, width: int) -> str:
    """Return `text` on exactly `width` cells."""
    line = clipped(text, width)
    return line + " " * (width - cells(line))


def wrapped(text: str, width: int) -> Iterator[tuple[int, str]]:
    """Yield (offset in `text`, line) with lines of at most `width` cells, broken at spaces where there are any."""
    begin = 0
    while begin < len(text):
        end = begin
        taken = 0
        while end < len(text) and taken + cells(text[end]) <= width:
            taken += cells(text[end])
            end += 1
        if end < len(text):
            space = text.rfind(" ", begin, end + 1)
            end = space if space > begin else max(end, begin + 1)
        line = text[begin:end]
        yield begin, line.rstrip()
        begin = end
        while begin < len(text) and text[begin] == " ":
            begin += 1
