"""What all verbs share: how a verb enters the parser, and the types of its arguments."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

from latence_retrieval.cli.exits import EXIT_CODES

__all__ = ["Verbs", "add_verb", "count", "unfinished_notes"]

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001
"""What `ArgumentParser.add_subparsers` returns; argparse has no public name for it."""


def add_verb(
    verbs: Verbs, name: str, run: Callable[[argparse.Namespace], int], *, summary: str, epilog: str = ""
) -> argparse.ArgumentParser:
    """Add a verb and return its parser.

    Args:
        verbs: the program's verbs.
        name: the verb.
        run: what it does; returns the exit code.
        summary: one sentence, for both help pages.
        epilog: what stands before the exit codes on its own help page.
    """
    parser: argparse.ArgumentParser = verbs.add_parser(
        name,
        help=summary,
        description=summary,
        epilog=f"{epilog}\n\n{EXIT_CODES}" if epilog else EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run)
    return parser


def count(text: str) -> int:
    """Return a whole number of at least 0."""
    try:
        value = int(text)
    except ValueError:
        value = -1
    if value < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 0")
    return value


def unfinished_notes(directories: Sequence[Path]) -> list[str]:
    """Return a line for each directory that a build which did not end left beside a sidecar."""
    return [
        f"note: {directory} is left of a build that did not end; the next build of this sidecar removes it where "
        "it was made on the same machine, else remove it yourself"
        for directory in directories
    ]
