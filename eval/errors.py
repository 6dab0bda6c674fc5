"""What can go wrong in the harness, each with a message that says what to do.

HarnessError
├── DataError           a set is missing or its files cannot be used
└── SystemUnavailable   a system cannot run here: it is skipped, and the results say why
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["DataError", "HarnessError", "SystemUnavailable"]


class HarnessError(Exception):
    """Base of every error that the harness raises on purpose; the command line prints it in one line."""


class DataError(HarnessError):
    """A set is missing or its files cannot be used; the message names the file and the fix."""

    def __init__(self, path: Path | str, problem: str, *, fix: str) -> None:
        self.path = str(path)
        self.problem = problem
        self.fix = fix
        super().__init__(f"{path}: {problem}; {fix}")


class SystemUnavailable(HarnessError):  # noqa: N818 - a state of the machine rather than a mistake
    """A system cannot run on this set or machine; it is skipped with this reason in the results."""

    def __init__(self, system: str, reason: str) -> None:
        self.system = system
        self.reason = reason
        super().__init__(f"{system} is skipped: {reason}")
