"""Chain metrics: does a chain start where the question starts, and walk over the gold passages in order?

    chain_start    = [the best chain's anchor is about a gold passage that the question starts from]
    chain_cover    = |witnesses of the best chain ∩ gold| / |gold|
    chain_cover@n  = the same over the union of the first n chains
    chain_in_order = [the gold passages, in reasoning order, are a subsequence of one chain's witnesses]

Our own, modelled on the evidence metrics of 2WikiMultihopQA (Ho et al., COLING 2020, section 5.1), which
score reasoning paths against `evidences`. Reasoning order is `hops` where the set says it (MuSiQue's
decomposition), else the order in which the subjects of `evidences` name gold titles. A question with
parallel branches (a comparison) has one order per branch and is in order when every branch is. Where the
order is unknown, chain_in_order is absent.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from eval.data.records import Question

__all__ = ["FoundChain", "chain_metrics", "is_subsequence", "reasoning_branches"]

COVER_CHAINS = 5
"""Chains whose union chain_cover@n looks at: as many as the passages of recall@5."""


@dataclass(frozen=True, slots=True)
class FoundChain:
    """One chain, best first in its list.

    Attributes:
        anchor_passages: passages that are about the anchor it starts from.
        witnesses: the passage that witnesses each hop, in order.
        labels: words for the report: anchor, relation, entity, and so on.
    """

    anchor_passages: tuple[str, ...]
    witnesses: tuple[str, ...]
    labels: tuple[str, ...] = ()


def is_subsequence(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Say whether the items of `part` occur in `whole` in the same order."""
    rest = iter(whole)
    return all(item in rest for item in part)


def reasoning_branches(question: Question, titles: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    """Return the gold passages in reasoning order, one tuple per branch; empty where the order is unknown.

    Args:
        question: with its labels.
        titles: gold passage id to its title.
    """
    if question.hops:
        return (question.hops,)
    by_title = {titles[item].casefold(): item for item in question.gold_ids if item in titles}
    branches: list[list[str]] = []
    tail: dict[str, int] = {}
    for subject, _, target in question.evidences:
        passage = by_title.get(subject.casefold())
        if passage is None:
            continue
        number = tail.get(subject.casefold())
        if number is None:
            number = len(branches)
            branches.append([])
        if passage not in branches[number]:
            branches[number].append(passage)
        tail[target.casefold()] = number
    return tuple(tuple(branch) for branch in branches if branch)


def chain_metrics(
    chains: Sequence[FoundChain],
    *,
    gold: Collection[str],
    starts: Collection[str],
    branches: Sequence[Sequence[str]],
) -> dict[str, float]:
    """Score one question's chains; a metric that the labels cannot support is left out.

    Args:
        chains: best first.
        gold: the gold passages.
        starts: gold passages that the question names; empty where unknown.
        branches: from `reasoning_branches`.
    """
    wanted = set(gold)
    best = set(chains[0].witnesses) if chains else set()
    union = {item for chain in chains[:COVER_CHAINS] for item in chain.witnesses}
    scores = {
        "chain_cover": len(best & wanted) / len(wanted),
        f"chain_cover@{COVER_CHAINS}": len(union & wanted) / len(wanted),
    }
    if starts:
        scores["chain_start"] = 1.0 if chains and set(chains[0].anchor_passages) & set(starts) else 0.0
    if branches:
        in_order = all(any(is_subsequence(branch, chain.witnesses) for chain in chains) for branch in branches)
        scores["chain_in_order"] = 1.0 if in_order else 0.0
    return scores
