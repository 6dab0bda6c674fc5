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

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_owner: tuple[int, threading.Thread] | None = None  # process and thread: a forked child starts its own


def run_blocking(call: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end and return its result; the calling thread waits.

    Args:
        call: a coroutine that was not started. Whatever it awaits must not need the caller's own event loop,
            which stands still meanwhile.

    Raises:
        RuntimeError: called from the very loop that runs these calls, which would wait for itself.
    """
    loop = _running_loop()
    if _owner is not None and threading.current_thread() is _owner[1]:
        call.close()
        raise RuntimeError("a blocking call inside another one would wait for itself; await the asynchronous method")
    return asyncio.run_coroutine_threadsafe(call, loop).result()


def _running_loop() -> asyncio.AbstractEventLoop:
    global _loop, _owner
    with _lock:
        if _loop is None or _owner is None or _owner[0] != os.getpid() or not _owner[1].is_alive():
            _loop = asyncio.new_event_loop()
            thread = threading.Thread(target=_loop.run_forever, name="latence-retrieval-blocking", daemon=True)
            thread.start()
            _owner = (os.getpid(), thread)
        return _loop
