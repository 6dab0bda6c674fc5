"""`latence-retrieval demo`: the bundled sample, questions that hop, and what plain search would have packed."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from latence_retrieval.build import BuildReport
from latence_retrieval.cli.comparison import Comparison, compare, totals
from latence_retrieval.cli.demo_screen import closing_lines, opening_lines, question_lines
from latence_retrieval.cli.exits import ExitCode
from latence_retrieval.cli.sample_data import SampleQuestion, build_sample, sample_questions
from latence_retrieval.cli.terminal import Terminal
from latence_retrieval.cli.verbs import Verbs, add_verb, count
from latence_retrieval.sidecar.read import Sidecar

__all__ = ["add_to"]

_SHOWN = ("q-01", "q-05", "q-12", "q-07")
"""One that crosses two companies, one with a homonym, one with two anchors, one of three hops."""

_BUDGET_TOKENS = 1024
"""Some eleven of the sample's 93 passages."""

_EPILOG = """\
No network, no model, no vectors: names, facts and words alone. Everything shown is computed while you wait."""


def add_to(verbs: Verbs) -> None:
    """Add the verb to the program."""
    parser = add_verb(verbs, "demo", _run, summary="Build the bundled sample and ask it questions.", epilog=_EPILOG)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--all", action="store_true", help="show all questions of the sample, not four")
    what.add_argument("--question", metavar="TEXT", help="ask one of your own about the sample")
    parser.add_argument(
        "--budget-tokens", type=count, default=_BUDGET_TOKENS, metavar="N", help=f"default {_BUDGET_TOKENS}"
    )
    parser.add_argument("--keep", metavar="DIR", type=Path, help="build the sidecar here and leave it, for other verbs")


def _run(arguments: argparse.Namespace) -> int:
    terminal = Terminal(sys.stdout)
    budget_tokens = arguments.budget_tokens
    with _built(arguments.keep) as (report, seconds), Sidecar.open(report.path) as sidecar:
        _print(opening_lines(report, seconds, terminal))
        if arguments.question is not None:
            own = compare(sidecar, arguments.question, budget_tokens=budget_tokens)
            _print(question_lines(own, None, sidecar, terminal))
            return ExitCode.DONE
        questions = {question.id: question for question in sample_questions()}
        shown = questions if arguments.all else _SHOWN
        compared: dict[str, Comparison] = {}
        for identifier in dict.fromkeys((*shown, *questions)):
            question = questions[identifier]
            compared[identifier] = _ask(sidecar, question, budget_tokens)
            if identifier in shown:
                _print(question_lines(compared[identifier], question, sidecar, terminal))
        _print(closing_lines(totals(list(compared.values())), budget_tokens, arguments.keep, terminal))
    return ExitCode.DONE


def _ask(sidecar: Sidecar, question: SampleQuestion, budget_tokens: int) -> Comparison:
    return compare(sidecar, question.question, answering=question.answering, budget_tokens=budget_tokens)


@contextmanager
def _built(keep: Path | None) -> Iterator[tuple[BuildReport, float]]:
    """Yield the sample's published sidecar and how long its build took; it goes away unless it is kept."""
    began_s = time.perf_counter()
    if keep is not None:
        report = build_sample(keep)
        yield report, time.perf_counter() - began_s
        return
    with TemporaryDirectory(prefix="latence-demo-") as directory:
        report = build_sample(Path(directory) / "sidecar")
        yield report, time.perf_counter() - began_s


def _print(lines: Iterator[str]) -> None:
    """Print a screen at once."""
    print("\n".join(lines), flush=True)
