"""`latence-retrieval inspect`: what a sidecar holds, as a whole, for one entity, or for one chunk."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from latence_retrieval.build.workspace import unfinished_builds
from latence_retrieval.cli.exits import ExitCode
from latence_retrieval.cli.neighbourhood import describe_chunk, describe_entity, find_entities
from latence_retrieval.cli.verbs import Verbs, add_verb, count, unfinished_notes
from latence_retrieval.sidecar.manifest import Manifest
from latence_retrieval.sidecar.read import Sidecar

__all__ = ["add_to"]


def add_to(verbs: Verbs) -> None:
    """Add the verb to the program."""
    parser = add_verb(verbs, "inspect", _run, summary="Show what a sidecar holds.")
    parser.add_argument("path", metavar="PATH", type=Path, help="a published sidecar")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--entity", metavar="ID_OR_NAME", help="one entity: its names, facts and passages")
    what.add_argument("--chunk", metavar="ID", help="one chunk: its text and its entities")
    parser.add_argument(
        "--limit", type=count, default=20, metavar="N", help="at most so many of each list (default 20)"
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def _run(arguments: argparse.Namespace) -> int:
    with Sidecar.open(arguments.path) as sidecar:
        if arguments.entity is not None:
            return _show_entity(sidecar, arguments)
        if arguments.chunk is not None:
            return _show_chunk(sidecar, arguments)
        manifest = sidecar.manifest
        print(manifest.model_dump_json() if arguments.json else _summary(arguments.path, manifest))
        return ExitCode.DONE


def _summary(path: Path, manifest: Manifest) -> str:
    vectors = ", ".join(manifest.vectors) if manifest.vectors else "none"
    lines = [
        f"{path}: snapshot {manifest.snapshot_id}",
        f"tenant           {manifest.tenant or 'none'}",
        f"format           {manifest.format_version}, names normalised with version {manifest.normaliser_version}",
        f"backend          {manifest.backend}",
        f"vectors          {vectors}",
        f"dimension        {manifest.dimension or 'none'}",
        f"embedding model  {manifest.embedding_model or 'not stated'}",
        f"entity types     {', '.join(manifest.entity_types) or 'none'}",
    ]
    lines += [f"{name.replace('_', ' '):<19}{value:>12,}" for name, value in manifest.counts.model_dump().items()]
    lines += [f"{name:<19}{entry.size_bytes:>12,} bytes" for name, entry in manifest.files.items()]
    lines += unfinished_notes(unfinished_builds(path))
    return "\n".join(lines)


def _show_entity(sidecar: Sidecar, arguments: argparse.Namespace) -> int:
    numbers = find_entities(sidecar, arguments.entity)
    told = [describe_entity(sidecar, number, limit=arguments.limit) for number in numbers]
    if arguments.json:
        print(json.dumps(told, ensure_ascii=False))
    elif told:
        print("\n\n".join(_entity_text(entity) for entity in told))
    else:
        sys.stderr.write(f"no entity has the id or the name {arguments.entity!r}\n")
    return ExitCode.DONE if told else ExitCode.NOTHING


def _entity_text(entity: dict[str, Any]) -> str:
    kind = f", {entity['type']}" if entity["type"] else ""
    mark = ", discovered" if entity["discovered"] else ""
    lines = [f"{entity['name']} [{entity['id']}]{kind}{mark}"]
    if entity["description"]:
        lines.append(f"  {entity['description']}")
    if entity["aliases"]:
        lines.append(f"  also: {', '.join(entity['aliases'])}")
    lines += [f"  {name}: {value}" for name, value in entity["properties"].items()]
    lines.append(f"  {entity['degree']} hyperedges, the strongest first; here {entity['shown']}")
    lines += [
        f"  fact {fact['id'] or '(no id)'}: {fact['relation']} ({', '.join(fact['members'])}), "
        f"confidence {fact['confidence']:.2f} [{fact['chunk']}]"
        for fact in entity["facts"]
    ]
    lines += [f"  about it: {chunk['title'] or '(no title)'} [{chunk['id']}]" for chunk in entity["about"]]
    lines += [f"  mentions it: {chunk['title'] or '(no title)'} [{chunk['id']}]" for chunk in entity["mentioned_in"]]
    return "\n".join(lines)


def _show_chunk(sidecar: Sidecar, arguments: argparse.Namespace) -> int:
    number = sidecar.chunk_numbers([arguments.chunk])[0]
    if number is None:
        if arguments.json:
            print("null")
        sys.stderr.write(f"no chunk has the id {arguments.chunk!r}\n")
        return ExitCode.NOTHING
    chunk = describe_chunk(sidecar, number)
    if arguments.json:
        print(json.dumps(chunk, ensure_ascii=False))
        return ExitCode.DONE
    lines = [f"{chunk['title'] or '(no title)'} [{chunk['id']}]", chunk["text"]]
    for label, field in (("source", "source"), ("document", "document_id")):
        if chunk[field]:
            lines.append(f"{label}: {chunk[field]}")
    lines += [f"about: {entity['name']} [{entity['id']}]" for entity in chunk["about_entities"]]
    lines += [
        f"mentions: {entity['name']} [{entity['id']}]" for entity in chunk["mentioned_entities"][: arguments.limit]
    ]
    print("\n".join(lines))
    return ExitCode.DONE
