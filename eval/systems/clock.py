"""Wall and processor milliseconds of one call."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter, process_time
from types import TracebackType
from typing import Self

__all__ = ["Stopwatch"]


@dataclass
class Stopwatch:
    """Measures its `with` block.

    Wall time is what a user waits; processor time is what other work on the machine leaves alone. It is of the
    whole process, so that work handed to another thread counts too.
    """

    wall_ms: float = 0.0
    cpu_ms: float = 0.0

    def __enter__(self) -> Self:
        self._wall, self._cpu = perf_counter(), process_time()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cpu_ms = (process_time() - self._cpu) * 1e3
        self.wall_ms = (perf_counter() - self._wall) * 1e3
