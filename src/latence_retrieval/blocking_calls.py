"""Calls asynchronous code from synchronous code, inside a running event loop or outside.

All calls run on one loop of this module's own, in one thread that is started by the first of them. So clients that
bind themselves to the loop of their first use (HTTP sessions, database pools) meet the same loop in every call.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["run_blocking"]

T = TypeVar("T")


class _LoopThread:
    """One event loop in a thread of its own, started when it is first needed; a forked child starts its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = 0

    def running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            alive = self._thread is not None and self._thread.is_alive() and self._process == os.getpid()
            if self._loop is None or not alive:
                self._loop = asyncio.new_event_loop()
                self._process = os.getpid()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="latence-retrieval-blocking", daemon=True
                )
                self._thread.start()
            return self._loop

    def is_current_thread(self) -> bool:
        return threading.current_thread() is self._thread


_thread = _LoopThread()


def run_blocking(call: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result; the calling thread waits.

    Args:
        call: a coroutine that was not started. Whatever it awaits must not need the caller's own event loop,
            which stands still meanwhile.

    Raises:
        RuntimeError: called from the very loop that runs these calls, which would wait for itself.
    """
    if _thread.is_current_thread():
        call.close()
        raise RuntimeError("a blocking call inside another one would wait for itself; await the asynchronous method")
    return asyncio.run_coroutine_threadsafe(call, _thread.running()).result()
