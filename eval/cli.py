"""The command line: `python -m eval run | report | compare | ablate | fit | prepare`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from eval.config import default_cache_dir, default_data_dir
from eval.errors import HarnessError
from eval.machine import pin_threads

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return its exit code (0 done, 2 a mistake that the message explains)."""
    pin_threads()
    parsed = _parser().parse_args(arguments)
    try:
        handler = parsed.handler
        return int(handler(parsed) or 0)
    except HarnessError as error:
        print(f"eval: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("eval: stopped; the same command goes on from here", file=sys.stderr)
        return 130


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _add_measuring(parser: argparse.ArgumentParser, *, sets: bool = True) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        default=None,
        metavar="DIR",
        help="folder of question sets (default: $LATENCE_EVAL_DATA, then ../shared/data)",
    )
    if sets:
        parser.add_argument("--sets", type=_names, required=True, metavar="NAME[,NAME]")
    parser.add_argument(
        "--cache",
        type=Path,
        default=None,
        metavar="DIR",
        help="default: $LATENCE_EVAL_CACHE, then .eval-cache",
    )
    parser.add_argument("--limit", type=int, default=None, metavar="N", help="ask only the first N questions")
    parser.add_argument("--fresh", action="store_true", help="measure again even what is cached")
    parser.add_argument("--gliner2", default=None, metavar="DIR", help="checkpoint for the tier 2 systems")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m eval", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    run = commands.add_parser("run", help="measure systems on sets")
    _add_measuring(run)
    run.add_argument(
        "--systems",
        type=_names,
        default=None,
        metavar="NAME[,NAME]",
        help="default: dense,bm25,rrf and the library's tiers; `list` prints all names",
    )
    run.add_argument("--out", type=Path, required=True, metavar="FILE.json")
    run.set_defaults(handler=_run)
    return parser


def _run(parsed: argparse.Namespace) -> int:
    from eval.run import RunRequest, run
    from eval.systems.registry import default_systems

    request = RunRequest(
        data_dir=parsed.data or default_data_dir(),
        sets=parsed.sets,
        systems=parsed.systems or default_systems(),
        cache_dir=parsed.cache or default_cache_dir(),
        limit=parsed.limit,
        fresh=parsed.fresh,
        gliner2=parsed.gliner2,
    )
    run(request, parsed.out)
    return 0
