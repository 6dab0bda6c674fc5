"""One question asked of the sample twice: by chains, and by plain BM25 under the same budget. All numbers are live."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from latence_retrieval.cli.plain_search import pack_in_order, rank_lexically
from latence_retrieval.evidence import retrieve_evidence
from latence_retrieval.evidence_result import EvidenceResult
from latence_retrieval.records import Chunk
from latence_retrieval.sidecar.read import Sidecar

__all__ = ["Comparison", "Totals", "compare", "totals"]

_TIMED_CALLS = 5
_MAX_PASSAGES = 16


@dataclass(frozen=True, slots=True)
class Comparison:
    """What both ways gave.

    Attributes:
        answering: ids of the passages that hold the answer; empty where nobody knows them.
        by_chains: the library's result.
        by_words: BM25's whole ranking, best first.
        packed_by_words: what of it fits into the budget.
        words_tokens: what that costs.
        milliseconds: median time of one `retrieve_evidence` on the opened sidecar.
    """

    answering: tuple[str, ...]
    by_chains: EvidenceResult
    by_words: tuple[Chunk, ...]
    packed_by_words: tuple[Chunk, ...]
    words_tokens: int
    milliseconds: float

    @property
    def chains_answer(self) -> bool:
        """Whether chains packed every answering passage."""
        packed = {selected.chunk.id for selected in self.by_chains.selection.chunks}
        return bool(self.answering) and packed.issuperset(self.answering)

    @property
    def words_answer(self) -> bool:
        """Whether BM25 packed every answering passage."""
        return bool(self.answering) and {chunk.id for chunk in self.packed_by_words}.issuperset(self.answering)

    def words_ranks(self) -> list[int | None]:
        """Return BM25's rank, from one, of each answering passage; None where it shares no word with the question."""
        ranks = {chunk.id: rank for rank, chunk in enumerate(self.by_words, start=1)}
        return [ranks.get(identifier) for identifier in self.answering]


@dataclass(frozen=True, slots=True)
class Totals:
    """How often each way packed the whole answer, over several questions."""

    questions: int
    chains: int
    words: int
    milliseconds: float


def compare(sidecar: Sidecar, question: str, *, answering: Sequence[str] = (), budget_tokens: int) -> Comparison:
    """Ask one question both ways; chains without an embedding, up to 16 passages, all else the library's defaults.

    BM25 may pack as many passages as fit.
    """
    times_s = []
    for _ in range(_TIMED_CALLS):
        began_s = time.perf_counter()
        result = retrieve_evidence(question, sidecar=sidecar, budget_tokens=budget_tokens, k=_MAX_PASSAGES)
        times_s.append(time.perf_counter() - began_s)
    ranking = rank_lexically(sidecar, question)
    packed, tokens = pack_in_order(ranking, budget_tokens=budget_tokens)
    return Comparison(tuple(answering), result, tuple(ranking), tuple(packed), tokens, 1000.0 * median(times_s))


def totals(comparisons: Sequence[Comparison]) -> Totals:
    """Count over at least one comparison."""
    return Totals(
        len(comparisons),
        sum(comparison.chains_answer for comparison in comparisons),
        sum(comparison.words_answer for comparison in comparisons),
        median(comparison.milliseconds for comparison in comparisons),
    )
