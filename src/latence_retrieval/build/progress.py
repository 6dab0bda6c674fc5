"""How far a build is: one callback for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["Progress", "ProgressCallback"]

ProgressCallback = Callable[[str, int, bool], None]
"""Called with the stage's name, how many items are done, and whether the stage is finished; first with 0 items."""

_ITEMS_A_CALL = 500


class Progress:
    """Counts the items of each stage; reports its begin, every 500 items, and its end."""

    def __init__(self, callback: ProgressCallback | None) -> None:
        self._callback = callback

    @contextmanager
    def stage(self, name: str) -> Iterator[Callable[[], None]]:
        """Count one stage: call what this yields once an item."""
        done = 0
        callback = self._callback

        def tick() -> None:
            nonlocal done
            done += 1
            if callback is not None and done % _ITEMS_A_CALL == 0:
                callback(name, done, False)

        if callback is not None:
            callback(name, 0, False)
        yield tick
        if callback is not None:
            callback(name, done, True)
