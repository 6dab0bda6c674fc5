"""What `ablate` changes by default: one idea a line, with the setting that switches it off or makes it plainer."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["IDEAS", "LEFT_OUT", "Idea", "idea_of", "is_left_out"]


class Idea(NamedTuple):
    """A design idea, and a change of settings without it; several changes are joined by `;`."""

    name: str
    change: str


IDEAS = (
    Idea("sentences' overlap with the question as transition weight", "walk.overlap_sharpness=0"),
    Idea("rarity (idf) of a form at the entry", "entry.min_rarity=1"),
    Idea("the question translated along the walk", "weights.translated=0"),
    Idea("the translated cosine scaled by the first hop's support", "translation.support_power=0"),
    Idea("the second hop gated by the terms that the first left open", "translation.overlap_weight=0"),
    Idea("the bridge's place in the passage", "translation.distance_cost=0"),
    Idea("the anchors taken out of the translated question", "translation.anchor_weight=0"),
    Idea("the bridge put into the translated question", "translation.bridge_weight=0"),
    Idea("BM25 as a signal", "weights.lexical=0"),
    Idea("BM25's best as candidates", "lexical_candidates=0;walk.lexical_seed_share=0;weights.lexical=0"),
    Idea("BM25's best as seeds (dense alone)", "walk.lexical_seed_share=0"),
    Idea("dense's best as seeds (BM25 alone)", "walk.lexical_seed_share=1"),
    Idea("passages near the top of the first stage as weak seeds", "walk.first_stage_share=0;walk.sure_weight=0"),
    Idea("more mass for the first stage where names are weak", "walk.sure_weight=0"),
    Idea("title and mention edges weighed apart", "walk.mention_weight=1"),
    Idea("title and mention edges weighed far apart", "walk.mention_weight=0.3"),
    Idea("catalogue names and discovered phrases weighed apart", "entry.discovered_weight=1;walk.discovered_weight=1"),
    Idea("degree cap", "walk.max_degree=1000000"),
    Idea("a tighter degree cap", "walk.max_degree=20"),
    Idea("a bound on mentions followed", "walk.max_mentions=1000"),
    Idea("the share among homonyms from context", "entry.homonym_sharpness=0"),
    Idea("how the corpus writes a form", "entry.min_lower_case_probability=0"),
    Idea("weak forms left out", "entry.min_form_weight=0"),
    Idea("the second hop", "walk.max_hops=1"),
    Idea("the third hop", "walk.max_hops=2"),
    Idea("cosine with the question as a signal", "weights.similarity=0"),
    Idea("activation as a signal", "weights.activation=0"),
    Idea("the square root of activation", "activation_power=1"),
    Idea("an order that covers the question", "coverage=0"),
    Idea("chains completed in selection", "selection.completion_bonus=0"),
    Idea("redundancy in selection", "selection.redundancy=0"),
)
"""Each name says what is missing once the change is made; adr/0036 tells what was found."""

LEFT_OUT = (
    Idea("cosine of question and passage as transition weight", "walk.similarity_sharpness=1"),
    Idea("the overlap of the whole passage instead of the naming sentence", "walk.sentence_overlap=false"),
    Idea("no damping of frequent entities in the walk", "walk.degree_damping=0"),
    Idea("two-anchor joins: passages that several anchors reach", "walk.join_chunks=0.5"),
    Idea("two-anchor joins: entities in passages of several anchors", "walk.join_entities=1"),
    Idea("the question translated from the second hop to the third", "translation.further_hops=0.5"),
    Idea("a bridge counts by the open terms of the sentence that names it", "translation.bridge_overlap=0.2"),
    Idea("bridges beyond the best add up", "translation.further_bridges=0.2"),
    Idea("an order that covers the question's vector", "vector_coverage=0.3"),
)
"""What was tried and is not in the library: the settings exist once `eval/experiments/ideas.patch` is applied."""

_NAMES = {idea.change: idea.name for idea in (*IDEAS, *LEFT_OUT)}


def idea_of(change: str) -> str:
    """Return the idea that a change leaves out; a change that stands in no list names itself."""
    return _NAMES.get(change, change)


def is_left_out(change: str) -> bool:
    """Say whether a change adds what was tried and left out, rather than taking a part away."""
    return change in {idea.change for idea in LEFT_OUT}
