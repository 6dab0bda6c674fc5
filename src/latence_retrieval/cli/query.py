"""`latence-retrieval query`: one question, its anchors, chains and packed passages."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from latence_retrieval import plugins
from latence_retrieval.cli.evidence_view import EvidenceView
from latence_retrieval.cli.exits import ExitCode
from latence_retrieval.cli.query_files import read_embedding, read_first_stage
from latence_retrieval.cli.terminal import Terminal
from latence_retrieval.cli.verbs import Verbs, add_verb, count
from latence_retrieval.errors import InvalidInputError
from latence_retrieval.evidence import retrieve_evidence
from latence_retrieval.evidence_result import EvidenceResult
from latence_retrieval.ports.entry_tier import EntryTier
from latence_retrieval.sidecar.read import Sidecar

__all__ = ["add_to"]

_EPILOG = """\
tiers: "ann" (nearest entities to --embedding), "alias" (names in the question), or PLUGIN=CHECKPOINT for an
installed entry plugin, such as gliner2=./checkpoint. Default: ann and alias.

first stage: one hit a line, best first: "c-1", or ["c-1", 0.83], or {"id": "c-1", "score": 0.83}."""

_MAX_CHAINS_SHOWN = 3
_BUILT_IN_TIERS = ("ann", "alias")


def add_to(verbs: Verbs) -> None:
    """Add the verb to the program."""
    parser = add_verb(verbs, "query", _run, summary="Ask a sidecar one question.", epilog=_EPILOG)
    parser.add_argument("path", metavar="PATH", type=Path, help="a published sidecar")
    parser.add_argument("question", metavar="QUESTION", help="the question, quoted")
    parser.add_argument("--embedding", metavar="FILE", type=Path, help="the question's embedding: .npy or a JSON list")
    parser.add_argument("--embedding-model", metavar="NAME", help="refuse a sidecar whose vectors another model made")
    parser.add_argument(
        "--first-stage",
        metavar="FILE",
        type=Path,
        help="your own hits, best first, as JSON Lines; - reads standard input",
    )
    parser.add_argument("--budget-tokens", type=count, default=1024, metavar="N", help="never exceeded (default 1024)")
    parser.add_argument("-k", type=count, default=10, metavar="N", help="at most so many passages (default 10)")
    parser.add_argument("--tier", action="append", metavar="TIER", help="where anchors come from; repeat for several")
    parser.add_argument("--tenant", metavar="NAME", help="refuse a sidecar of another tenant")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--explain", action="store_true", help="print everything that was found, in words")
    form.add_argument("--prompt", action="store_true", help="print the packed passages alone, numbered for citation")
    form.add_argument("--json", action="store_true", help="print the whole result as JSON")


def _run(arguments: argparse.Namespace) -> int:
    embedding = None if arguments.embedding is None else read_embedding(arguments.embedding)
    first_stage = [] if arguments.first_stage is None else read_first_stage(arguments.first_stage)
    tiers = [_tier(text) for text in arguments.tier or _BUILT_IN_TIERS]
    identity = {"tenant": arguments.tenant, "embedding_model": arguments.embedding_model}
    with Sidecar.open(arguments.path, **identity) as sidecar:
        result = retrieve_evidence(
            arguments.question,
            sidecar=sidecar,
            embedding=embedding,
            first_stage=first_stage,
            budget_tokens=arguments.budget_tokens,
            k=arguments.k,
            tiers=tiers,
        )
        print(_told(result, sidecar, arguments))
    return ExitCode.DONE if result.selection.chunks else ExitCode.NOTHING


def _told(result: EvidenceResult, sidecar: Sidecar, arguments: argparse.Namespace) -> str:
    if arguments.json:
        return result.model_dump_json()
    if arguments.prompt:
        return result.to_prompt()
    if arguments.explain:
        return result.explain()
    view = EvidenceView(result, sidecar, Terminal(sys.stdout))
    lines = [*view.question_lines(), ""]
    for chain in result.chains[:_MAX_CHAINS_SHOWN]:
        lines += [*view.chain_lines(chain), ""]
    lines += [*view.packed_lines(), *view.degradation_lines()]
    return "\n".join(lines)


def _tier(text: str) -> str | EntryTier:
    """Return a built-in tier's name, or the tier that a plugin makes of a checkpoint."""
    name, given, checkpoint = text.partition("=")
    if text in _BUILT_IN_TIERS:
        return text
    if not given:
        raise InvalidInputError("--tier", f"{text!r} is no built-in tier", fix="give ann, alias or PLUGIN=CHECKPOINT")
    tier: EntryTier = plugins.create(f"entry.{name}", model=checkpoint)
    return tier
