"""The best way from an anchor to each top passage, read off the walk's layers without another look at the snapshot.

Backwards from the passage, each step takes the arrival that brought the most mass (Viterbi's recursion over the
layers of the walk). Where mass of a second anchor arrived too, the two ways make one chain that joins the anchors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from latence_retrieval.walk import FIRST_STAGE, Layer, Walk, Witness

__all__ = ["JOIN_BONUS", "Path", "Step", "best_chains", "find_paths"]

JOIN_BONUS = 0.25
"""Added to the score of a chain that joins two anchors, so that it stands above either half; judgement."""

_MIN_SECOND_SHARE = 0.1  # of the best way's mass; less is no second way but noise


class Step(NamedTuple):
    """One hop by numbers: from an entity (or FIRST_STAGE) over a chunk's hyperedge or a fact to an entity, or None."""

    source: int
    relation: int
    fact: int
    chunk: int
    target: int | None


class Path(NamedTuple):
    """Steps in order, the anchors that they start from (entity numbers), and the chain's score."""

    steps: tuple[Step, ...]
    anchors: tuple[int, ...]
    score: float

    @property
    def chunks(self) -> tuple[int, ...]:
        """The witnesses, each once, in order."""
        return tuple(dict.fromkeys(step.chunk for step in self.steps))


class _Way(NamedTuple):
    steps: tuple[Step, ...]
    root: int


def find_paths(
    walk: Walk,
    goals: Sequence[int],
    utility: Mapping[int, float],
    *,
    spans: Mapping[int, object] = MappingProxyType({}),
) -> dict[int, Path]:
    """Return the best path to each goal that the walk reached, in the order of the goals.

    Args:
        walk: layers with arrivals.
        goals: chunks worth explaining, best first.
        utility: of every chunk that may be a witness; one that is missing counts 0.
        spans: which words of the question an anchor comes from; readings of the same words are not joined.
    """
    tracer = _Tracer(walk.layers, goals)
    found = ((goal, _best_path(tracer, goal, utility, spans)) for goal in goals)
    return {goal: path for goal, path in found if path is not None}


def best_chains(paths: Mapping[int, Path], *, max_chains: int) -> dict[int, Path]:
    """Return the paths that are worth telling, at most `max_chains`, by score, then by the order given.

    A path that is the beginning of another is left out.
    """
    trails = [tuple((step.source, step.chunk) for step in path.steps) for path in paths.values()]
    beginnings = {trail[:length] for trail in trails for length in range(1, len(trail))}
    kept = [told for told, trail in zip(paths.items(), trails, strict=True) if trail not in beginnings]
    kept.sort(key=lambda pair: -pair[1].score)
    return dict(kept[:max_chains])


def _best_path(tracer: _Tracer, goal: int, utility: Mapping[int, float], spans: Mapping[int, object]) -> Path | None:
    """Return the heaviest way to a goal, joined with the heaviest way from another anchor, if any counts beside it."""
    last = tracer.last_hops(goal)
    if not last:
        return None
    ordered = sorted(last, key=lambda root: (-last[root][1].mass, root))
    best = ordered[0]
    steps = tracer.steps(*last[best], goal)
    anchors: tuple[int, ...] = (best,) if best != FIRST_STAGE else ()
    bonus = 0.0
    if anchors:
        for other in ordered[1:]:
            same_words = best in spans and spans[best] == spans.get(other)
            if other != FIRST_STAGE and not same_words:
                steps = (*steps, *reversed(tracer.steps(*last[other], goal)))
                anchors = (best, other)
                bonus = JOIN_BONUS
                break
    chunks = dict.fromkeys(step.chunk for step in steps)
    score = sum(utility.get(chunk, 0.0) for chunk in chunks) / len(chunks) + bonus
    return Path(steps, anchors, score)


class _Tracer:
    """Follows the heaviest arrivals backwards, each entity of a layer once."""

    def __init__(self, layers: Sequence[Layer], goals: Sequence[int]) -> None:
        self._layers = layers
        asked = frozenset(goals)
        self._witnesses = [layer.witnesses_of(asked.union(layer.spread)) for layer in layers]
        self._known: list[dict[int, _Way]] = [{} for _ in layers]

    def last_hops(self, goal: int) -> dict[int, tuple[int, Witness]]:
        """Return by root (an anchor, or FIRST_STAGE) the depth and the last hop of its heaviest way to a goal.

        Ways that are negligible beside the heaviest of all are left out: following them back is what costs here.
        """
        last: dict[int, tuple[int, Witness]] = {}
        ways = [(depth, way) for depth, found in enumerate(self._witnesses) for way in found.get(goal, ())]
        least = _MIN_SECOND_SHARE * max([way[0] for _, way in ways], default=0.0)  # of their masses
        for depth, way in ways:
            if way[0] < least:
                continue
            root = way[1]
            if depth and root != FIRST_STAGE:
                root = self._to_entity(depth, root).root
            known = last.get(root)
            if known is None or way[0] > known[1][0]:
                last[root] = (depth, way)
        return last

    def steps(self, depth: int, witness: Witness, chunk: int) -> tuple[Step, ...]:
        """Return the way that ends with this witness."""
        last = Step(witness.entity, witness.relation, witness.fact, chunk, None)
        if witness.entity == FIRST_STAGE:
            return (last,)
        return (*self._to_entity(depth, witness.entity).steps, last)

    def _to_entity(self, depth: int, entity: int) -> _Way:
        if depth == 0:
            return _Way((), entity)
        known = self._known[depth].get(entity)
        if known is not None:
            return known
        arrival = min(self._layers[depth].arrivals[entity], key=lambda item: (-item.mass, item.chunk, item.fact))
        if arrival.source >= 0:
            before = self._to_entity(depth - 1, arrival.source)
            step = Step(arrival.source, arrival.relation, arrival.fact, arrival.chunk, entity)
        else:
            witness = min(
                self._witnesses[depth - 1][arrival.chunk], key=lambda item: (-item.mass, item.entity, item.fact)
            )
            if witness.entity == FIRST_STAGE:
                before = _Way((), FIRST_STAGE)
            else:
                before = self._to_entity(depth - 1, witness.entity)
            step = Step(witness.entity, 0, -1, arrival.chunk, entity)
        way = self._known[depth][entity] = _Way((*before.steps, step), before.root)
        return way
