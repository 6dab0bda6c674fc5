"""The command line: `python -m eval run | report | compare | ablate | fit | prepare`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from eval import commands as commands_module
from eval.errors import HarnessError
from eval.graph.linkers import LINKERS
from eval.machine import pin_threads
from eval.prepare import PACKAGED_MODEL
from eval.systems.names import split_names

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]  # noqa: SLF001 - it has no public name

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


def _add_measuring(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data",
        type=Path,
        default=None,
        metavar="DIR",
        help="folder of question sets (default: $LATENCE_EVAL_DATA, then ../shared/data)",
    )
    parser.add_argument("--sets", type=_names, required=True, metavar="NAME[,NAME]")
    parser.add_argument(
        "--cache",
        type=Path,
        default=None,
        metavar="DIR",
        help="default: $LATENCE_EVAL_CACHE, then .eval-cache",
    )
    parser.add_argument(
        "--vectors", type=Path, default=None, metavar="DIR", help="use the prepared vectors of this folder"
    )
    parser.add_argument("--limit", type=int, default=None, metavar="N", help="ask only the first N questions")
    parser.add_argument(
        "--linker", choices=LINKERS, default=next(iter(LINKERS)), help="how passages are linked at index time"
    )
    parser.add_argument("--fresh", action="store_true", help="measure again even what is cached")
    parser.add_argument("--gliner2", default=None, metavar="DIR", help="checkpoint for the tier 2 systems")


def _add_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, metavar="FILE.json")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m eval", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="command")
    run = commands.add_parser("run", help="measure systems on sets")
    _add_measuring(run)
    run.add_argument(
        "--systems",
        type=split_names,
        default=None,
        metavar="NAME[,NAME]",
        help="default: the first stage, BM25, their fusion and the library's tiers; see `systems`",
    )
    run.add_argument(
        "--quick",
        action="store_true",
        help="ask the library once a question: the budget of 1,024 tokens alone, and rankings of ten",
    )
    _add_out(run)
    run.set_defaults(handler=commands_module.run_command)
    systems = commands.add_parser("systems", help="print what --systems understands")
    systems.set_defaults(handler=commands_module.systems_command)
    _add_reports(commands)
    _add_searches(commands)
    return parser


def _add_reports(commands: Subparsers) -> None:
    report = commands.add_parser(
        "report", help="write the tables and the plot of the README and of eval/RESULTS.md, or the HTML page"
    )
    report.add_argument("results", type=Path, metavar="FILE.json")
    report.add_argument("--html", type=Path, default=None, metavar="FILE.html", help="write the page instead")
    report.add_argument(
        "--bench", type=Path, default=None, metavar="FILE.json", help="latency by size, from eval.bench.structural"
    )
    report.add_argument(
        "--ablation", type=Path, default=None, metavar="FILE.json", help="add what `ablate` found to the HTML page"
    )
    report.add_argument(
        "--readme",
        type=Path,
        default=None,
        metavar="FILE.md",
        help="default: eval/RESULTS.md where it has a block for this file, else README.md",
    )
    report.add_argument("--check", action="store_true", help="write nothing; fail where something is stale")
    report.set_defaults(handler=commands_module.report_command)
    compare = commands.add_parser("compare", help="compare two results files question by question")
    compare.add_argument("before", type=Path, metavar="A.json")
    compare.add_argument("after", type=Path, metavar="B.json")
    compare.add_argument(
        "--systems", type=split_names, default=None, metavar="NAME[,NAME]", help="a name, or `before=after`"
    )
    compare.set_defaults(handler=commands_module.compare_command)


def _add_searches(commands: Subparsers) -> None:
    ablate = commands.add_parser("ablate", help="change one setting of a system at a time")
    _add_measuring(ablate)
    ablate.add_argument("--system", default="tier1", metavar="NAME")
    ablate.add_argument("--change", action="append", default=None, metavar="PATH=VALUE", help="may be repeated")
    _add_out(ablate)
    ablate.set_defaults(handler=commands_module.ablate_command)
    fit = commands.add_parser("fit", help="search settings on development halves, confirm on the rest")
    _add_measuring(fit)
    fit.add_argument("--confirm", type=_names, default=None, metavar="NAME[,NAME]", help="further sets, never fitted")
    fit.add_argument("--system", default="tier1", metavar="NAME")
    fit.add_argument("--grid", action="append", default=None, metavar="PATH=V,V", help="may be repeated")
    _add_out(fit)
    fit.set_defaults(handler=commands_module.fit_command)
    prepare = commands.add_parser("prepare", help="compute a set's vectors")
    _add_measuring(prepare)
    prepare.add_argument("--model", default=PACKAGED_MODEL, metavar="NAME", help="a sentence-transformers model")
    prepare.add_argument("--out", type=Path, default=None, metavar="DIR", help="default: the cache's `vectors`")
    prepare.set_defaults(handler=commands_module.prepare_command)
