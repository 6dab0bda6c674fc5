"""How far a build is, on standard error: one line that changes on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TextIO

__all__ = ["ProgressLine"]

_TERMINAL_INTERVAL_S = 0.1
_PLAIN_INTERVAL_S = 10.0


class ProgressLine:
    """A progress callback for `build_sidecar`; call `close` when the build ends, however it ends."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Write to `stream`; None takes standard error."""
        self._stream = sys.stderr if stream is None else stream
        self._is_terminal = self._stream.isatty()
        self._interval_s = _TERMINAL_INTERVAL_S if self._is_terminal else _PLAIN_INTERVAL_S
        self._stage = ""
        self._began_s = 0.0
        self._shown_s = 0.0
        self._is_open = False

    def __call__(self, stage: str, done: int, finished: bool) -> None:
        """Show a stage's count; a finished stage stays on the screen with its time."""
        now_s = time.monotonic()
        if stage != self._stage:
            self.close()
            self._stage, self._began_s, self._shown_s = stage, now_s, now_s
            if self._is_terminal:
                self._show(f"{stage} ...")
        if finished:
            self._show(f"{stage}: {done:,}, {now_s - self._began_s:.1f} s")
            self.close()
            self._stage = ""
        elif now_s - self._shown_s >= self._interval_s:
            self._shown_s = now_s
            self._show(f"{stage}: {done:,} ...")

    def close(self) -> None:
        """End a line that is still open."""
        if self._is_open:
            self._stream.write("\n")
            self._is_open = False
        self._stream.flush()

    def _show(self, text: str) -> None:
        if self._is_terminal:
            self._stream.write(f"\r\x1b[2K{text}")
            self._is_open = True
        else:
            self._stream.write(text + "\n")
        self._stream.flush()
