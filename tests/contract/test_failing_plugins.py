"""Parts of a third party that fail are recorded, and the others answer; with `strict=True` they raise."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval import retrieve_evidence
from latence_retrieval.errors import MissingExtraError, TierError, TierUnavailableError
from latence_retrieval.ports.entry_tier import Link, Span, TierOutcome
from tests.contract.asking import QUESTION, Index, Relations, Tier, reasons, sound

BROKEN = [
    RuntimeError("boom"),
    MissingExtraError("gliner2", package="gliner2", purpose="the tier"),
    None,
    "links",
    TierOutcome(links=(Link(10**6, 1.0, "third-party"),)),
    TierOutcome(links=(Link(-1, 1.0, "third-party"),)),
    TierOutcome(links=(Link(0, math.nan, "third-party"),)),
    TierOutcome(links=(Link(0, math.inf, "third-party"),)),
    TierOutcome(links=(Link(0, -1.0, "third-party"),)),
    TierOutcome(links=(Link(0, 1.0, "third-party", share=7.0),)),
    TierOutcome(links=(Link(0, 1.0, "third-party", homonyms=((10**6, 0.5),)),)),
    TierOutcome(links=(Link(0, 1.0, "third-party", Span(-5, 10**6, "x")),)),
    TierOutcome(links=(Link("org:orrin", 1.0, "third-party"),)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("outcome", BROKEN, ids=range(len(BROKEN)))
def test_a_tier_that_fails_is_recorded_and_the_others_answer(small: Path, outcome: Any) -> None:
    result = sound(retrieve_evidence(QUESTION, sidecar=small, tiers=(Tier(outcome), "alias")))
    record = {record.tier: record for record in result.tiers}["third-party"]
    assert record.state == "failed"
    assert record.detail
    assert result.anchors[0].entity_id == "part:ax100"
    assert "third-party" in reasons(result)


@pytest.mark.parametrize("outcome", BROKEN, ids=range(len(BROKEN)))
def test_a_tier_that_fails_raises_when_strict(small: Path, outcome: Any) -> None:
    with pytest.raises((TierError, MissingExtraError)):
        retrieve_evidence(QUESTION, sidecar=small, tiers=(Tier(outcome), "alias"), strict=True)


def test_a_tier_that_cannot_run_is_skipped_even_when_strict(small: Path) -> None:
    result = sound(
        retrieve_evidence(
            QUESTION, sidecar=small, tiers=(Tier(TierUnavailableError("no model today")), "alias"), strict=True
        )
    )
    assert [(record.tier, record.state) for record in result.tiers] == [("third-party", "skipped"), ("alias", "linked")]


@pytest.mark.parametrize(
    "found",
    [RuntimeError("boom"), None, [(10**6, 0.5)], [("nobody", 0.5)], [(0, math.nan)], [("org:orrin",)]],
    ids=range(6),
)
def test_an_index_that_fails_or_answers_nonsense_links_nothing(small_vectors: Path, found: Any) -> None:
    index = Index(found)
    result = sound(
        retrieve_evidence(
            "xyzzy", sidecar=small_vectors, embedding=[0.1] * 16, entity_index=index, first_stage=["c-ada"]
        )
    )
    assert result.anchors == ()
    assert result.ranking[0].chunk_id == "c-ada"


def test_an_index_may_answer_with_ids_or_numbers(small_vectors: Path) -> None:
    numpy = pytest.importorskip("numpy")
    for found in ([("org:orrin", 0.9)], [(0, 0.9)], [(numpy.int64(0), numpy.float32(0.9))]):
        result = sound(
            retrieve_evidence(
                "xyzzy", sidecar=small_vectors, embedding=[0.1] * 16, entity_index=Index(found), tiers=("ann",)
            )
        )
        assert [anchor.entity_id for anchor in result.anchors] == ["org:orrin"]


@pytest.mark.parametrize(
    "scores", [RuntimeError("boom"), "high", {"cast_by": "high"}, {"cast_by": math.nan}], ids=range(4)
)
def test_a_relation_signal_that_fails_is_recorded_and_absent(small: Path, scores: Any) -> None:
    result = sound(retrieve_evidence(QUESTION, sidecar=small, relation_signal=Relations(scores)))
    assert "relq" not in result.weights
    assert "relations" in reasons(result)
    with pytest.raises(TierError):
        retrieve_evidence(QUESTION, sidecar=small, relation_signal=Relations(scores), strict=True)


def test_a_relation_signal_that_is_absent_is_not_zero(small: Path) -> None:
    absent = sound(retrieve_evidence(QUESTION, sidecar=small, relation_signal=Relations(None)))
    zero = sound(retrieve_evidence(QUESTION, sidecar=small, relation_signal=Relations({})))
    assert "relq" not in absent.weights
    assert zero.weights["relq"] > 0.0
    assert sum(absent.weights.values()) == pytest.approx(1.0)
    assert sum(zero.weights.values()) == pytest.approx(1.0)
