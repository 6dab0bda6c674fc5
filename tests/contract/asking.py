"""What the contract tests of bad input share: a question, doubles of a third party's parts, and what is sound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from latence_retrieval import EvidenceResult
from latence_retrieval.ports.entry_tier import EntryRequest, TierOutcome

QUESTION = "Who leads the owner of the foundry that casts the AX-100?"


class Tier:
    """A third party's tier that does what the test tells it."""

    name = "third-party"

    def __init__(self, outcome: Any) -> None:
        self._outcome = outcome

    def enter(self, request: EntryRequest) -> TierOutcome:
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        return self._outcome


class Index:
    """An adopter's vector index."""

    def __init__(self, found: Any, dimension: int = 16) -> None:
        self.dimension = dimension
        self._found = found

    def nearest(self, embedding: Sequence[float], k: int) -> Any:
        if isinstance(self._found, BaseException):
            raise self._found
        return self._found


class Relations:
    """A relation signal."""

    name = "relations"

    def __init__(self, scores: Any) -> None:
        self._scores = scores

    def relation_scores(self, query: str, labels: Mapping[str, str | None], embedding: Any) -> Any:
        if isinstance(self._scores, BaseException):
            raise self._scores
        return self._scores


def reasons(result: EvidenceResult) -> str:
    return " | ".join(f"{item.stage}: {item.reason}" for item in result.degradations)


def sound(result: EvidenceResult) -> EvidenceResult:
    """Return the result after it went through JSON unchanged and kept its budget."""
    assert EvidenceResult.model_validate_json(result.model_dump_json()) == result
    assert result.selection.tokens <= result.selection.budget_tokens
    assert result.explain()
    return result
