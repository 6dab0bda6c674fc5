"""The program: its parser, and what becomes of errors."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TextIO

from latence_retrieval import __version__
from latence_retrieval.cli.build import add_to as add_build
from latence_retrieval.cli.demo import add_to as add_demo
from latence_retrieval.cli.exits import EXIT_CODES, ExitCode
from latence_retrieval.cli.inspect import add_to as add_inspect
from latence_retrieval.cli.plugins import add_to as add_plugins
from latence_retrieval.cli.query import add_to as add_query
from latence_retrieval.cli.verify import add_to as add_verify
from latence_retrieval.errors import LatenceRetrievalError, SidecarError

__all__ = ["main"]

_VERBS = (add_demo, add_build, add_query, add_inspect, add_verify, add_plugins)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: arguments without the program's name; None takes those of the process.

    Returns:
        The exit code; see `ExitCode`. Errors of this package are printed as one line on standard error.
    """
    for stream in (sys.stdout, sys.stderr):
        _never_fail_to_encode(stream)
    try:
        arguments = _parser().parse_args(argv)
        code = int(arguments.run(arguments))
        sys.stdout.flush()
    except SystemExit as stop:  # argparse, after --help or a usage error
        return stop.code if isinstance(stop.code, int) else ExitCode.BAD_INPUT
    except BrokenPipeError:
        _discard_output()
        return ExitCode.BROKEN_PIPE
    except KeyboardInterrupt:
        return _fail("interrupted", ExitCode.INTERRUPTED)
    except SidecarError as error:
        return _fail(f"error: {error}", ExitCode.UNUSABLE)
    except LatenceRetrievalError as error:
        return _fail(f"error: {error}", ExitCode.BAD_INPUT)
    except OSError as error:
        where = f"{error.filename}: " if error.filename is not None else ""
        return _fail(f"error: {where}{error.strerror or error}", ExitCode.BAD_INPUT)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="latence-retrieval",
        description="Multi-hop evidence for RAG from a read-only sidecar.",
        epilog=EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"latence-retrieval {__version__}")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    for add_verb in _VERBS:
        add_verb(verbs)
    return parser


def _fail(message: str, code: ExitCode) -> int:
    """Print one line, after whatever a progress line left on the terminal."""
    sys.stderr.write(" ".join(message.split()) + "\n")
    return code


def _never_fail_to_encode(stream: TextIO) -> None:
    """Print a replacement for characters that the terminal's encoding lacks, instead of failing half-way."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")


def _discard_output() -> None:
    """Let the interpreter's last flush go nowhere, so that it does not complain about the closed pipe."""
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, sys.stdout.fileno())
    finally:
        os.close(null)
