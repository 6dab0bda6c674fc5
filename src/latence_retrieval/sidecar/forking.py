"""Keeps read handles safe across `fork`: none is in use while a process forks, the child starts without any.

A thread of the parent may stand inside a C library when another thread forks; the child inherits that
library's counters and locks as they were, with nobody left to release them (adr/0042). So the hooks here wait
until every reader is idle, and the child drops what it inherited and opens its own at the next read.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol

__all__ = ["ForkGate", "ForkSafe"]


class ForkSafe(Protocol):
    """A reader that the gate looks after; compared by identity, and weakly referenced."""

    lock: threading.RLock

    def drop_inherited(self) -> None:
        """Let go of the handle that came through a fork; called in the child, nothing being in use."""
        ...


class ForkGate:
    """The process's live readers, and one lock that opening and closing them take.

    Lock order is the gate's lock first, a reader's second; a reader never waits for the gate while it
    holds its own.
    """

    def __init__(self) -> None:
        """Start without readers; hooks are set when the first one comes."""
        self.lock = threading.RLock()
        self._readers: weakref.WeakSet[ForkSafe] = weakref.WeakSet()
        self._held: list[ForkSafe] = []
        self._is_hooked = False

    def add(self, reader: ForkSafe) -> None:
        """Look after a reader from now on; it leaves by `discard` or by being collected."""
        with self.lock:
            if not self._is_hooked:
                self._is_hooked = True
                self._hook()
            self._readers.add(reader)

    def discard(self, reader: ForkSafe) -> None:
        """Forget a reader that was closed."""
        with self.lock:
            self._readers.discard(reader)

    def _hook(self) -> None:
        if hasattr(os, "register_at_fork"):  # absent on Windows, which cannot fork
            os.register_at_fork(before=self._quiesce, after_in_parent=self._resume, after_in_child=self._start_afresh)

    def _quiesce(self) -> None:
        self.lock.acquire()
        self._held = list(self._readers)
        for reader in self._held:
            reader.lock.acquire()

    def _resume(self) -> None:
        held, self._held = self._held, []
        for reader in held:
            reader.lock.release()
        self.lock.release()

    def _start_afresh(self) -> None:
        for reader in self._held:
            reader.drop_inherited()
        self._resume()


GATE = ForkGate()
"""The gate of this process."""
