"""Exit codes, the same for every verb."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["EXIT_CODES", "ExitCode"]


class ExitCode(IntEnum):
    """How a run ended."""

    DONE = 0
    NOTHING = 1
    BAD_INPUT = 2
    UNUSABLE = 3
    INTERRUPTED = 130  # 128 + SIGINT, as shells report it
    BROKEN_PIPE = 141  # 128 + SIGPIPE


EXIT_CODES = """\
exit codes:
  0    done
  1    done, and the answer is empty: nothing packed, no such entity or chunk, a broken plugin
  2    a wrong argument or input file, or a package that is not installed
  3    the sidecar is missing, damaged, of another version, or not the one asked for
  130  interrupted
  141  whoever read the output went away
"""
