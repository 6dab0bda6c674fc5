"""The demo's screens: one a question, chains on the left and plain search on the right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from latence_retrieval.build import BuildReport
from latence_retrieval.cli.comparison import Comparison, Totals
from latence_retrieval.cli.evidence_view import EvidenceView
from latence_retrieval.cli.sample_data import SampleQuestion
from latence_retrieval.cli.terminal import Terminal, cells, padded, wrapped
from latence_retrieval.prompt import packed_block
from latence_retrieval.results import Chain
from latence_retrieval.select.tokens import estimate_tokens
from latence_retrieval.sidecar.read import Sidecar

__all__ = ["closing_lines", "opening_lines", "question_lines"]

_STAR = "★"
_DOT = "•"
_OWN_QUESTION_CHAINS = 2


def opening_lines(report: BuildReport, seconds: float, terminal: Terminal) -> Iterator[str]:
    """Yield what was built."""
    counts = report.manifest.counts
    yield terminal.bold("An invented industrial group, in a sidecar")
    yield (
        f"  {counts.chunks} passages, {counts.entities} entities, {counts.forms} names, {counts.facts} facts, "
        f"built in {seconds:.1f} s: {report.manifest.backend}, no model, no vectors"
    )
    yield ""


def question_lines(
    comparison: Comparison, question: SampleQuestion | None, sidecar: Sidecar, terminal: Terminal
) -> Iterator[str]:
    """Yield one question's screen."""
    result = comparison.by_chains
    view = EvidenceView(result, sidecar, terminal)
    yield _rule(question.id if question else "your question", terminal)
    yield from view.question_lines()
    yield ""
    way = frozenset(question.gold if question else ())
    chains = _chains_to_show(comparison, way)
    if comparison.answering and not any(_ends_at(chain, comparison.answering) for chain in chains):
        yield terminal.dim("  no chain ends at the answering passage; the one that covers most of the way there:")
    for chain in chains:
        yield from view.chain_lines(chain)
    yield ""
    yield from _side_by_side(comparison, way, terminal)
    if question is not None:
        yield terminal.dim(f"  {_DOT} on the way   {_STAR} holds the answer")
        yield from _verdict_lines(comparison, question, terminal)
    yield terminal.dim(f"  {comparison.milliseconds:.1f} ms for chains, anchors and packing (median of 5 calls)")
    yield ""


def closing_lines(totals: Totals, budget_tokens: int, kept: Path | None, terminal: Terminal) -> Iterator[str]:
    """Yield the totals over all questions of the sample."""
    yield _rule("totals", terminal)
    yield terminal.bold(
        f"  All {totals.questions} questions, {budget_tokens} tokens each: the answer is packed for "
        f"{totals.chains} by chains, for {totals.words} by BM25."
    )
    yield f"  Median {totals.milliseconds:.1f} ms a question. The sample was written to need hops, so it shows how, not how often;"
    yield "  how often, on public question sets, is in the README's table."
    if kept is not None:
        yield f'  The sidecar is kept: latence-retrieval query {kept} "..."'
    else:
        yield '  Next: latence-retrieval demo --all, --question "your own", or --keep DIR for the other verbs.'


def _rule(title: str, terminal: Terminal) -> str:
    return terminal.dim(f"── {title} " + "─" * (terminal.width - cells(title) - 4))


def _ends_at(chain: Chain, answering: tuple[str, ...]) -> bool:
    return chain.hops[-1].chunk_id in answering


def _chains_to_show(comparison: Comparison, way: frozenset[str]) -> list[Chain]:
    """Return for each answering passage the best chain that ends there, else the one that covers most of the way."""
    chains = comparison.by_chains.chains
    if not comparison.answering:
        return list(chains[:_OWN_QUESTION_CHAINS])
    found = []
    for identifier in comparison.answering:
        found += [chain for chain in chains if chain.hops[-1].chunk_id == identifier][:1]
    return found or sorted(chains, key=lambda chain: -len(way.intersection(chain.chunk_ids)))[:1]


def _side_by_side(comparison: Comparison, way: frozenset[str], terminal: Terminal) -> Iterator[str]:
    """Yield what each way packed, in two columns, with marks at the passages of the known way."""
    selection = comparison.by_chains.selection
    left = [
        (str(selected.citation), selected.chunk.id, selected.chunk.title or selected.chunk.id, selected.tokens)
        for selected in selection.chunks
    ]
    right = [
        (str(rank), chunk.id, chunk.title or chunk.id, estimate_tokens(packed_block(rank, chunk)))
        for rank, chunk in enumerate(comparison.packed_by_words, start=1)
    ]
    width = (terminal.width - 7) // 2
    heads = (
        f"by chains: {selection.tokens} of {selection.budget_tokens} tokens",
        f"by BM25: {comparison.words_tokens} of {selection.budget_tokens} tokens",
    )
    yield "  " + " │ ".join(terminal.bold(padded(head, width)) for head in heads)
    for at in range(max(len(left), len(right))):
        sides = [
            _packed_cell(side[at] if at < len(side) else None, comparison.answering, way, width, terminal)
            for side in (left, right)
        ]
        yield "  " + " │ ".join(sides)


def _packed_cell(
    item: tuple[str, str, str, int] | None,
    answering: tuple[str, ...],
    way: frozenset[str],
    width: int,
    terminal: Terminal,
) -> str:
    if item is None:
        return " " * width
    place, identifier, title, tokens = item
    is_answer = identifier in answering
    mark = _STAR if is_answer else _DOT if identifier in way else " "
    cell = f"{mark} {place:>2}  {padded(title, width - 10)}{tokens:>4}"
    return terminal.good(cell) if is_answer else cell


def _verdict_lines(comparison: Comparison, question: SampleQuestion, terminal: Terminal) -> Iterator[str]:
    """Yield the answer, and where each way has the passages that hold it."""
    for _, line in wrapped(f"answer: {question.answer}", terminal.width - 2):
        yield "  " + terminal.good(line)
    cited = {selected.chunk.id: selected.citation for selected in comparison.by_chains.selection.chunks}
    packed = {chunk.id for chunk in comparison.packed_by_words}
    for identifier, rank in zip(comparison.answering, comparison.words_ranks(), strict=True):
        place = f"packed as [{cited[identifier]}]" if identifier in cited else "not packed"
        total = len(comparison.by_words)
        by_words = (
            "not found at all: it shares no word with the question"
            if rank is None
            else f"rank {rank} of {total}, {'packed' if identifier in packed else 'not packed'}"
        )
        yield f"    {identifier}: by chains {place}; by BM25 {by_words}"
