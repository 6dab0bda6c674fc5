"""Any text is answered, in bounded work, by a result that can be written."""

from __future__ import annotations

from pathlib import Path

import pytest

from latence_retrieval import Settings, retrieve_evidence
from latence_retrieval.ports.entry_tier import EntryRequest, TierOutcome
from tests.contract.asking import Tier, reasons, sound

HOSTILE = [
    '!"#$%&/()=?',
    '"AX-100" AND NOT (Orrin OR *) ^2 /x/ \\',
    "'; DROP TABLE named; --",
    "AX-100\x00Orrin\x00",
    "\ud800 AX-100 \udfff",
    "\ufeff\u202eAX-100\u202c\u2066",
    "A\u0300" * 500,
    "\u0301" * 300,
    "ﷺ" * 200,
    "🤖👩‍👩‍👧‍👦" * 100,
    "กขคฆง" * 100,
    "%s %d {0} ${x} <script>",
    "a\r\nb\u2028c\u0085d",
]


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_answered(small_vectors: Path, query: str) -> None:
    result = sound(retrieve_evidence(query, sidecar=small_vectors, embedding=[0.1] * 16))
    for anchor in result.anchors:
        if anchor.form is not None:
            assert result.query[anchor.start : anchor.end] == anchor.form


def test_lone_surrogates_are_replaced_and_told(small: Path) -> None:
    result = sound(retrieve_evidence("\ud800 AX-100", sidecar=small, first_stage=["c-\udfff", "c-ada"]))
    assert result.query == "\ufffd AX-100"
    assert result.anchors[0].entity_id == "part:ax100"
    assert "surrogate" in reasons(result)


@pytest.mark.parametrize(
    "query",
    [
        "AX-100 Orrin " * 80_000,
        "x" * 1_000_000,
        "\u0301" * 1_000_000,
        "天" * 1_000_000,
        "A. " * 333_334,
        "'" * 1_000_000,
    ],
    ids=["names", "word", "marks", "han", "initials", "quotes"],
)
def test_a_query_of_a_million_characters_is_bounded_work(small: Path, query: str) -> None:
    read: list[int] = []

    class Reader(Tier):
        def enter(self, request: EntryRequest) -> TierOutcome:
            read.append(len(request.query))
            return TierOutcome()

    result = retrieve_evidence(query, sidecar=small, first_stage=["c-ada"], tiers=(Reader(None), "alias"))
    assert read == [Settings().entry.max_query_chars]
    assert result.query == query
    assert result.work.lookups <= 10_000
    assert result.work.pushes <= 1_000
    assert "characters of the query" in reasons(result)
