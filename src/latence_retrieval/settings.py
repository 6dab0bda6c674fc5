"""Every default of the evidence path, each with where it comes from.

"fitted" means: chosen on the development halves of 2WikiMultihopQA, HotpotQA and MuSiQue together (adr/0003), one
value for all three. "bound" means: a limit on work, not on quality.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

__all__ = ["EntrySettings", "SelectionSettings", "Settings", "SignalWeights", "TranslationSettings", "WalkSettings"]

_Share = Annotated[float, Field(ge=0.0, le=1.0)]
_NonNegative = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
_Exponent = Annotated[float, Field(ge=0.0, le=300.0)]  # exp(709) is the largest double
_Count = Annotated[int, Field(ge=0)]


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class EntrySettings(_Settings):
    """From a question to anchors."""

    max_query_chars: _Count = 4_000
    """Bound: the rest of a longer query is not read for names; recorded."""
    max_lookups: _Count = 2_000
    """Bound: n-grams looked up for one query."""
    max_anchors: _Count = 32
    """Bound: the strongest are kept."""
    min_lower_case_probability: _Share = 0.7
    """A single word in lower case is a name only if the corpus writes it as one this often; fitted."""
    min_form_weight: _Share = 0.15
    """Weaker forms ("the world") are no anchors; fitted."""
    unseen_lower_case_weight: _Share = 0.3
    """Weight of a form that the corpus never shows and the query does not capitalise; judgement."""
    homonym_sharpness: _NonNegative = 10.0
    """Softmax over the cosine of candidates to the query; fitted."""
    min_homonym_share: _Share = 0.02
    """Candidates with less are passed over."""
    min_rarity: _Share = 0.05
    """Floor of the idf factor ln(N / chunks) / ln(N) of a form; fitted."""
    discovered_weight: _Share = 0.35
    """A discovered phrase against a catalogue entity; fitted."""
    nearest_entities: _Count = 5
    """Entities that tier 0 enters by where nothing links."""


class WalkSettings(_Settings):
    """The walk over the hypergraph."""

    continue_probability: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.5
    """Part of the mass that goes on after each hop; the damping of HippoRAG 2, and fitted."""
    about_weight: _NonNegative = 1.0
    """Transition weight of chunks that are about the entity; the unit."""
    fact_weight: _NonNegative = 1.0
    """Transition weight of a fact, times its confidence."""
    mention_weight: _NonNegative = 0.01
    """Transition weight of a chunk that mentions the entity; fitted."""
    discovered_weight: _Share = 0.35
    """A discovered phrase draws this much of what a catalogue entity draws; fitted."""
    first_stage_share: _Share = 0.1
    """Part of the restart mass that starts at the first stage's best hits; all of it where nothing links; fitted."""
    sure_weight: _NonNegative = 0.3
    """Where the names that tier 1 found weigh less than this together ("county", "lake"), the first stage takes the
    missing part of their mass too; fitted (adr/0036)."""
    recalled_share: _Share = 0.3
    """Part of the restart mass of anchors that no tier named: neighbours of the embedding (tier 0), beside the first
    stage's hits, which take the rest."""
    first_stage_seeds: _Count = 5
    """How many hits those are; fitted."""
    lexical_seed_share: _Share = 0.5
    """Part of the first stage's mass that goes to the best hits of BM25 beside the caller's; fitted."""
    first_stage_sharpness: _NonNegative = 10.0
    """Softmax over their scores."""
    overlap_sharpness: _Exponent = 4.0
    """Transitions are weighted by exp(this × part of the open question terms that the naming sentence holds); fitted."""
    max_hops: Annotated[int, Field(ge=1)] = 3
    """Hops from anchors to chunks. The third changes nothing measurable on the question sets, whose questions rarely need
    it, and finds the end of three-hop chains in the bundled sample."""
    max_anchor_pushes: _Count = 32
    """Bound: anchors read."""
    max_chunk_pushes: _Count = 6
    """Chunks of a hop whose entities are reached, the heaviest first; fitted."""
    max_entity_pushes: _Count = 16
    """Entities of the second hop whose chunks are reached, the heaviest first; half as many of each further hop; fitted."""
    max_mentions: _Count = 16
    """Chunks that mention an entity are followed up to this many, those with most of the question's terms first; fitted."""
    max_degree: _Count = 100
    """Entities with more hyperedges take mass but pass none on; fitted."""
    tolerance: _NonNegative = 1e-6
    """Bound: nodes with less mass are not pushed."""


class TranslationSettings(_Settings):
    """The query embedding moved along the walk: q - anchors × v(anchors) + bridge × v(bridge)."""

    anchor_weight: _NonNegative = 1.0
    bridge_weight: _NonNegative = 0.7
    """fitted."""
    floor: Annotated[float, Field(ge=-1.0, le=1.0)] = 0.2
    """Cosines below count as nothing; fitted."""
    support_power: _NonNegative = 0.5
    """A translated cosine counts by (the first-hop chunk's activation, relative to the best) to this power; fitted."""
    overlap_weight: _NonNegative = 0.25
    """Added per part of the question's still open terms that the naming sentence holds; fitted."""
    distance_cost: _NonNegative = 0.03
    """Taken off per sentence before the one that first names the bridge, four at most; fitted."""
    discovered_weight: _Share = 0.8
    """A bridge that is a discovered phrase counts so much; fitted."""
    max_dot_products: _Count = 1_500
    """Bound."""


class SignalWeights(_Settings):
    """Weights of the utility's signals; those of absent signals go to the present ones in proportion."""

    activation: _NonNegative = 1.0
    similarity: _NonNegative = 0.4
    lexical: _NonNegative = 0.1
    translated: _NonNegative = 0.8
    confidence: _NonNegative = 0.05
    relq: _NonNegative = 0.2


class SelectionSettings(_Settings):
    """What is kept under the budget."""

    sharpness: _NonNegative = 4.0
    """A passage is worth (its utility / the best) to this power."""
    completion_bonus: _NonNegative = 0.3
    """Worth of having all witnesses of a chain, times the least worth among them."""
    redundancy: _Share = 0.3
    """Part of a passage's worth that is lost where one passage packed before it has all of its words."""
    max_candidates: _Count = 32
    """Bound: passages whose text is read."""


class Settings(_Settings):
    """All settings of one call; the defaults are one set of values for every corpus."""

    entry: EntrySettings = EntrySettings()
    walk: WalkSettings = WalkSettings()
    translation: TranslationSettings = TranslationSettings()
    weights: SignalWeights = SignalWeights()
    selection: SelectionSettings = SelectionSettings()
    activation_power: Annotated[float, Field(gt=0.0, le=1.0)] = 0.5
    """The activation signal is (mass / most mass) to this power; fitted (linear loses 2 to 9 points at 10)."""
    far_hop_floor: _Share = 0.4
    """From the third hop on, a chunk's activation counts at least this × its part of the hop's best; neutral on the
    question sets, chosen for three-hop chains."""
    coverage: _NonNegative = 0.5
    """Ranked one by one, a chunk gains this × the part of the question's terms that none above it holds; fitted.
    On the scale of `weights`."""
    cover_depth: _Count = 10
    """Ranks that are filled that way; the rest follow by utility."""
    lexical_candidates: _Count = 30
    """Best chunks by BM25 that are scored beside those that the walk reached."""
    max_ranked: _Count = 64
    """Bound: chunks scored."""
    max_chains: _Count = 8
    """Chains returned."""
