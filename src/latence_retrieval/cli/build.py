"""`latence-retrieval build`: records in, a published sidecar out."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from latence_retrieval.build import BuildReport, build_sidecar
from latence_retrieval.cli.exits import ExitCode
from latence_retrieval.cli.progress import ProgressLine
from latence_retrieval.cli.verbs import Verbs, add_verb, count

__all__ = ["add_to"]

_EPILOG = """\
Records are JSON Lines, plain or gzip, one record a line; docs/sidecar-format.md has the fields. Vectors are .npy
files, or FILE.npz:KEY, with one row a record; or each record brings its own in a field "vector". Without facts and
without links of your own, the names of the catalogue are found in the text."""


def add_to(verbs: Verbs) -> None:
    """Add the verb to the program."""
    parser = add_verb(verbs, "build", _run, summary="Build a sidecar from records and publish it.", epilog=_EPILOG)
    parser.add_argument("target", metavar="TARGET", type=Path, help="directory to publish")
    records = parser.add_argument_group("records")
    records.add_argument("--chunks", metavar="FILE", type=Path, required=True, help="the passages")
    records.add_argument("--entities", metavar="FILE", type=Path, help="the catalogue: entities and their names")
    records.add_argument("--facts", metavar="FILE", type=Path, help="statements that tie entities")
    records.add_argument("--relations", metavar="FILE", type=Path, help="descriptions of relation labels")
    records.add_argument("--titles-as-entities", action="store_true", help="make an entity of each chunk's title")
    records.add_argument("--discover", action="store_true", help="make entities of capitalised phrases that recur")
    records.add_argument("--no-link", action="store_true", help="do not look for names in the chunks' text")
    vectors = parser.add_argument_group("vectors")
    vectors.add_argument("--entity-vectors", metavar="NPY", help="one row an entity record")
    vectors.add_argument("--title-vectors", metavar="NPY", help="one row a chunk, for entities made of titles")
    vectors.add_argument("--chunk-vectors", metavar="NPY", help="one row a chunk")
    vectors.add_argument("--relation-vectors", metavar="NPY", help="one row a relation record")
    vectors.add_argument("--embedding-model", metavar="NAME", help="the model behind the vectors; queries may check it")
    publishing = parser.add_argument_group("publishing")
    publishing.add_argument("--tenant", metavar="NAME", help="whose sidecar it is; queries may check it")
    publishing.add_argument(
        "--backend", default="sqlite", metavar="NAME", help="sqlite (default), or lmdb with the extra"
    )
    publishing.add_argument("--replace", action="store_true", help="exchange an existing sidecar for the new one")
    publishing.add_argument(
        "--max-memory-mb", type=count, default=256, metavar="N", help="bound of memory (default 256)"
    )
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def _run(arguments: argparse.Namespace) -> int:
    began_s = time.monotonic()
    progress = None if arguments.quiet else ProgressLine()
    try:
        report = build_sidecar(
            arguments.target,
            chunks=arguments.chunks,
            entities=arguments.entities,
            facts=arguments.facts,
            relations=arguments.relations,
            titles_as_entities=arguments.titles_as_entities,
            discover=arguments.discover,
            link=not arguments.no_link,
            entity_vectors=arguments.entity_vectors,
            title_vectors=arguments.title_vectors,
            chunk_vectors=arguments.chunk_vectors,
            relation_vectors=arguments.relation_vectors,
            embedding_model=arguments.embedding_model,
            tenant=arguments.tenant,
            backend=arguments.backend,
            replace=arguments.replace,
            max_memory_mb=arguments.max_memory_mb,
            progress=progress,
        )
    finally:
        if progress is not None:
            progress.close()
    seconds = time.monotonic() - began_s
    print(_as_json(report, seconds) if arguments.json else _as_text(report, seconds))
    return ExitCode.DONE


def _as_json(report: BuildReport, seconds: float) -> str:
    told = {
        "path": str(report.path),
        "seconds": round(seconds, 3),
        "notes": list(report.notes),
        "manifest": report.manifest.model_dump(mode="json"),
    }
    return json.dumps(told, ensure_ascii=False)


def _as_text(report: BuildReport, seconds: float) -> str:
    counts = report.manifest.counts
    held = (
        f"{counts.chunks:,} chunks, {counts.entities:,} entities ({counts.catalogue_entities:,} of the catalogue), "
        f"{counts.forms:,} names, {counts.facts:,} facts, {counts.mentions:,} mentions"
    )
    lines = [
        f"{report.path}: snapshot {report.manifest.snapshot_id}, {report.manifest.backend}, {seconds:.1f} s",
        held,
    ]
    return "\n".join(lines + [f"note: {note}" for note in report.notes])
