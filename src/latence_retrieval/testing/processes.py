"""Run a test's function in a forked child that cannot hang the test."""

from __future__ import annotations

import os
import select
import signal
import traceback
import warnings
from collections.abc import Callable

__all__ = ["run_in_fork"]


def run_in_fork(work: Callable[[], None], *, timeout_s: float = 20.0) -> None:
    """Run `work` in a forked child; nothing happens where the platform cannot fork.

    Args:
        work: called in the child.
        timeout_s: the child is killed after this many seconds, whether it hangs in `work` or in a fork hook.

    Raises:
        AssertionError: the child raised, hung or was killed; says which, with its traceback.
    """
    if not hasattr(os, "fork"):
        return
    read_end, write_end = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads at a fork are what the caller is testing
        child = os.fork()
    if child == 0:
        _be_the_child(work, write_end)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        has_ended = bool(select.select([pipe], [], [], timeout_s)[0])  # a report, or the end of the child
        if not has_ended:
            os.kill(child, signal.SIGKILL)
        report = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if not has_ended:
        raise AssertionError(f"the child hung for {timeout_s} s")
    if os.WIFSIGNALED(status):
        raise AssertionError(f"the child was killed by {signal.Signals(os.WTERMSIG(status)).name}")
    if report or status:
        raise AssertionError(f"the child failed with status {status}\n{report}")


def _be_the_child(work: Callable[[], None], write_end: int) -> None:
    status = 0
    try:
        work()
    except BaseException:
        status = 1
        os.write(write_end, traceback.format_exc().encode()[:60_000])
    finally:
        os._exit(status)
