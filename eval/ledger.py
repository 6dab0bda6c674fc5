"""The loss ledger: where each missed gold passage was lost.

    no anchor       no anchor was found, or the labels say that the question names this very passage and no
                    anchor is about it
    no link         anchors were found, but no path of at most two hops leads from them to the passage
    cut by the walk a path is there, but the walk left nothing on the passage
    outranked       the walk reached it, and other passages took the places
    cut by budget   it stands in the first five, and the selection under the budget left it out

Each missed passage has exactly one loss: the first stage at which it was gone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from eval.data.records import Question
from eval.graph.entity_graph import EntityGraph
from eval.metrics.question import named_passages
from eval.systems.base import Bench

__all__ = ["LEDGER_RANK", "LOSSES", "add_losses", "loss_of", "passages_within"]

LOSSES = ("no anchor", "no link", "cut by the walk", "outranked", "cut by budget")

LEDGER_RANK = 5
"""A gold passage below this rank counts as missed: the deeper of the two ranks that the papers report."""

MAX_HOPS = 2
"""Hops that a link may take; the sets' questions need no more from their nearest anchor."""


def passages_within(graph: EntityGraph, anchors: Iterable[int], *, hops: int = MAX_HOPS) -> frozenset[int]:
    """Return the rows of all passages within so many hops of the anchors; a hop is entity to passage."""
    entities = set(anchors)
    frontier = set(anchors)
    rows: set[int] = set()
    for _ in range(hops):
        fresh = {row for entity in frontier for row in graph.passages_of[entity]} - rows
        rows |= fresh
        frontier = {entity for row in fresh for entity in graph.mentions[row]} - entities
        entities |= frontier
    return frozenset(rows)


def loss_of(
    passage: str,
    *,
    rank: int | None,
    selected: Collection[str] | None,
    has_anchors: bool,
    anchored: Collection[str],
    named: Collection[str],
    linked: bool,
    reached: Collection[str] | None,
) -> str | None:
    """Return the loss of one gold passage, or None where it was not lost.

    Args:
        passage: its id.
        rank: its rank from one; None where it is not in the ranking.
        selected: the selection; None where the system does not select.
        has_anchors: whether any anchor was found.
        anchored: passages that some anchor is about.
        named: gold passages that the question names.
        linked: whether a path of at most two hops leads to it from an anchor.
        reached: passages that the walk left mass on; None where the system does not say.
    """
    if rank is not None and rank <= LEDGER_RANK:
        return "cut by budget" if selected is not None and passage not in selected else None
    if not has_anchors or (passage in named and passage not in anchored):
        return "no anchor"
    if reached is not None and passage in reached:
        return "outranked"  # also where the walk went further than the hops that are looked at here
    if not linked:
        return "no link"
    return "outranked" if reached is None else "cut by the walk"


def add_losses(rows: Sequence[dict[str, Any]], bench: Bench, questions: Sequence[Question]) -> None:
    """Write `losses` (gold passage id to loss) into the rows of a system that tells its anchors."""
    if not any(row.get("anchors") for row in rows):
        return
    graph = bench.graph
    for row, question in zip(rows, questions, strict=True):
        losses = _losses(row, question, bench, graph)
        if losses:
            row["losses"] = losses


def _losses(row: Mapping[str, Any], question: Question, bench: Bench, graph: EntityGraph) -> dict[str, str]:
    anchors = row.get("anchors") or []
    numbers = [graph.number_of[anchor["entity"]] for anchor in anchors if anchor["entity"] in graph.number_of]
    selected = row.get("selected")
    missed = [item for item in question.gold_ids if (row["ranks"].get(item) or LEDGER_RANK + 1) > LEDGER_RANK]
    near = passages_within(graph, numbers) if missed and numbers else frozenset()
    losses = {}
    for item in question.gold_ids:
        loss = loss_of(
            item,
            rank=row["ranks"].get(item),
            selected=selected,
            has_anchors=bool(anchors),
            anchored={passage for anchor in anchors for passage in anchor["passages"]},
            named=() if bench.data.anchors is None else named_passages(question, bench.data),
            linked=bench.data.row_of.get(item, -1) in near,
            reached=row.get("reached"),
        )
        if loss is not None:
            losses[item] = loss
    return losses
