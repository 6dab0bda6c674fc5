"""A progress bar where `tqdm` is installed and the terminal is one; quiet lines otherwise."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["say", "track"]

Item = TypeVar("Item")


def say(text: str) -> None:
    """Print one line to standard error, where progress belongs."""
    print(text, file=sys.stderr, flush=True)


def track(items: Sequence[Item], *, label: str) -> Iterator[Item]:
    """Yield the items while showing how far it is."""
    try:
        from tqdm import tqdm
    except ModuleNotFoundError:
        yield from items
        return
    yield from tqdm(items, desc=label, leave=False, mininterval=0.5, file=sys.stderr, disable=not sys.stderr.isatty())
