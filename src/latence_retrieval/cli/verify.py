"""`latence-retrieval verify`: every digest, row and reference of a sidecar."""

from __future__ import annotations

import argparse
import dataclasses
import json
from pathlib import Path

from latence_retrieval.build.workspace import unfinished_builds
from latence_retrieval.cli.exits import ExitCode
from latence_retrieval.cli.verbs import Verbs, add_verb, unfinished_notes
from latence_retrieval.verification import verify_sidecar

__all__ = ["add_to"]


def add_to(verbs: Verbs) -> None:
    """Add the verb to the program."""
    parser = add_verb(verbs, "verify", _run, summary="Check a sidecar in full; the first fault ends with exit code 3.")
    parser.add_argument("path", metavar="PATH", type=Path, help="a published sidecar")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def _run(arguments: argparse.Namespace) -> int:
    report = verify_sidecar(arguments.path)
    unfinished = unfinished_builds(arguments.path)
    if arguments.json:
        told = {"path": str(arguments.path), **dataclasses.asdict(report)}
        print(json.dumps({**told, "unfinished_builds": [str(found) for found in unfinished]}))
        return ExitCode.DONE
    rows = ", ".join(f"{count:,} {table}" for table, count in report.rows.items() if count)
    print(f"{arguments.path}: sound, snapshot {report.snapshot_id}, {report.files} files")
    print(f"rows: {rows or 'none'}")
    for note in unfinished_notes(unfinished):
        print(note)
    return ExitCode.DONE
