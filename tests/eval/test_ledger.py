"""Each lost gold passage gets the first stage at which it was gone."""

from __future__ import annotations

from typing import Any

import pytest

from eval.data.records import Passage
from eval.graph.entity_graph import EntityGraph
from eval.graph.linking import link_corpus, plain_title
from eval.ledger import loss_of, passages_within

FOUND: dict[str, Any] = {
    "rank": None,
    "selected": None,
    "has_anchors": True,
    "anchored": (),
    "named": (),
    "linked": True,
    "reached": None,
}


@pytest.mark.parametrize(
    ("changes", "loss"),
    [
        ({"rank": 3}, None),
        ({"rank": 3, "selected": ["other"]}, "cut by budget"),
        ({"rank": 3, "selected": ["p"]}, None),
        ({"has_anchors": False}, "no anchor"),
        ({"named": ["p"], "anchored": ["other"]}, "no anchor"),
        ({"linked": False}, "no link"),
        ({"reached": {}}, "cut by the walk"),
        ({"reached": {}, "linked": False}, "no link"),
        ({"reached": {"p": 0.1}, "linked": False}, "outranked"),
        ({"reached": {"p": 0.1}, "rank": 9}, "outranked"),
        ({"named": ["p"], "anchored": ["p"], "rank": 7}, "outranked"),
    ],
)
def test_loss_is_the_first_stage_at_which_the_passage_was_gone(changes: dict[str, Any], loss: str | None) -> None:
    assert loss_of("p", **{**FOUND, **changes}) == loss


PASSAGES = [
    Passage("a", "Blue Harbour (film)", "Directed by Ana Reyes."),
    Passage("b", "Ana Reyes", "Born in Lisbon."),
    Passage("c", "Lisbon", "A capital on the Tagus."),
    Passage("d", "Dublin", "Another capital."),
]


def _graph() -> EntityGraph:
    linked = link_corpus(PASSAGES)
    return EntityGraph(
        names=linked.names, about=linked.about, mentions=linked.mentions, forms=linked.forms, origin="test"
    )


def test_passages_within_two_hops_are_those_the_graph_reaches() -> None:
    graph = _graph()
    start = [graph.names.index("Blue Harbour (film)")]
    assert passages_within(graph, start, hops=1) == {0}
    assert passages_within(graph, start, hops=2) == {0, 1}
    assert passages_within(graph, start, hops=3) == {0, 1, 2}
    assert passages_within(graph, [], hops=2) == frozenset()


def test_linker_takes_the_longest_form_and_drops_the_disambiguator() -> None:
    graph = _graph()
    question = "Who made Blue Harbour in Lisbon?"
    assert [(graph.names[entity], question[start:end]) for entity, start, end in graph.link(question)] == [
        ("Blue Harbour (film)", "Blue Harbour"),
        ("Lisbon", "Lisbon"),
    ]
    assert graph.link("who made it?") == []
    assert plain_title("Rush (band)") == "Rush"
    assert plain_title("(2009)") == "(2009)"
