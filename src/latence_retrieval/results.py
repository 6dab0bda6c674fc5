"""What `retrieve_evidence` returns: typed, explained, serialisable. Every score's type says its scale."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from latence_retrieval.records import Chunk

__all__ = [
    "Activation",
    "Anchor",
    "Chain",
    "Cosine",
    "Degradation",
    "Dropped",
    "Homonym",
    "Hop",
    "RankedChunk",
    "SelectedChunk",
    "Selection",
    "Share",
    "Signal",
    "TierRecord",
    "TierState",
    "UnlinkedSpan",
    "Utility",
    "WitnessedEntity",
    "Work",
]

Share = Annotated[float, Field(ge=0.0, le=1.0, description="a part of a whole; parts of one whole sum to 1")]
Cosine = Annotated[float, Field(ge=-1.0, le=1.0, description="cosine of two vectors")]
Activation = Annotated[float, Field(ge=0.0, description="mass of the walk; comparable within one result only")]
Utility = Annotated[float, Field(ge=0.0, le=1.0, description="weighted mean of signals; comparable within one result")]
Unit = Annotated[float, Field(ge=0.0, le=1.0, description="a signal, relative to the best of this result")]


class Signal(StrEnum):
    """One term of the utility."""

    __hash__ = str.__hash__  # what a string has; an enum's own is written in Python

    ACTIVATION = "activation"
    SIMILARITY = "similarity"
    LEXICAL = "lexical"
    TRANSLATED = "translated"
    CONFIDENCE = "confidence"
    RELQ = "relq"


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Homonym(_Result):
    """An entity that the same form could have meant."""

    entity_id: str
    name: str
    share: Share


class Anchor(_Result):
    """An entity that the query is taken to be about.

    Attributes:
        weight: part of the restart vector.
        tier: which tier said so.
        form: the words that matched; None where no words did (tier 0).
        start, end: their characters in the query, half-open.
        share: this entity's part among all that the form may mean.
        passed_over: the other candidates, best first.
    """

    entity_id: str
    name: str
    weight: Share
    tier: str
    form: str | None = None
    start: int | None = None
    end: int | None = None
    share: Share = 1.0
    passed_over: tuple[Homonym, ...] = ()


class TierState(StrEnum):
    """What became of a tier."""

    LINKED = "linked"
    NOTHING = "nothing"
    SKIPPED = "skipped"
    FAILED = "failed"


class UnlinkedSpan(_Result):
    """Words that a tier took for an entity, and that no entity of the snapshot answers to."""

    text: str
    start: int
    end: int
    label: str | None = None


class TierRecord(_Result):
    """One tier's part: how many links it gave, what it saw and could not link, and why it did not run."""

    tier: str
    state: TierState
    links: int = 0
    detail: str | None = None
    unlinked: tuple[UnlinkedSpan, ...] = ()


class WitnessedEntity(_Result):
    """An entity as a hop names it."""

    entity_id: str
    name: str


class Hop(_Result):
    """One step of a chain: from an entity, over a hyperedge that a chunk witnesses, to the next entity.

    Attributes:
        source: where the hop starts; None where the first stage's own hit started it.
        target: where it leads; None at the end of a chain, whose chunk is its goal.
        relation: label of the hyperedge, `mentions` for a passage that names both.
        chunk_id: the witness.
        fact_id: the fact, where the hyperedge is one and has an id.
    """

    source: WitnessedEntity | None
    relation: str
    target: WitnessedEntity | None
    chunk_id: str
    fact_id: str | None = None


class Chain(_Result):
    """An ordered path from an anchor to a passage.

    Attributes:
        hops: in order; for a chain that joins two anchors, the way from the first and then the way back to the second.
        anchor_ids: the anchors that it starts from; two where it joins them, none where a first-stage hit started it.
        score: mean utility of its witnesses, and JOIN_BONUS where it joins anchors; comparable within one result.
    """

    hops: tuple[Hop, ...]
    anchor_ids: tuple[str, ...]
    score: float

    @property
    def chunk_ids(self) -> tuple[str, ...]:
        """The witnesses, in order, each once."""
        return tuple(dict.fromkeys(hop.chunk_id for hop in self.hops))

    @property
    def joins(self) -> bool:
        """Whether it connects two anchors."""
        return len(self.anchor_ids) > 1


class RankedChunk(_Result):
    """A passage with its utility.

    Attributes:
        utility: weighted mean of the signals present.
        signals: each present signal's value; an absent signal is not there, which is not 0.0.
        via: names of the entities through which the walk came here, from an anchor; empty where it did not.
        first_stage_rank: rank from one among the caller's hits; None where it was not among them.
    """

    chunk_id: str
    utility: Utility
    signals: dict[Signal, Unit]
    via: tuple[str, ...] = ()
    first_stage_rank: int | None = None


class SelectedChunk(_Result):
    """A passage that was packed.

    Attributes:
        citation: its number in `to_prompt()`, from one.
        tokens: what its block costs by the caller's counter, numbered by its rank.
        reasons: why it was taken, in words.
    """

    citation: int
    chunk: Chunk
    utility: Utility
    tokens: int
    reasons: tuple[str, ...]


class Dropped(_Result):
    """A ranked passage that was not packed, and why."""

    chunk_id: str
    reason: str
    tokens: int | None = None


class Selection(_Result):
    """What was packed under the budget.

    Attributes:
        tokens: of the packed text as a whole, never above `budget_tokens`.
        value: the objective's value of what is packed.
        bound: no selection whose passages keep the budget, each counted by itself, can have a higher value.
    """

    chunks: tuple[SelectedChunk, ...] = ()
    tokens: int = 0
    budget_tokens: int = 0
    value: float = 0.0
    bound: float = 0.0

    @property
    def guaranteed_share(self) -> float:
        """At least this part of the best possible value was reached; 1.0 where there was nothing to reach."""
        return self.value / self.bound if self.bound > 0 else 1.0


class Degradation(_Result):
    """A stage that could not do all it does: which one, and why."""

    stage: str
    reason: str


class Work(_Result):
    """How much was done; the same for the same call on any machine.

    Attributes:
        residual: mass of the walk that was not pushed; bounds the error of all chunks' activations together.
    """

    lookups: int = 0
    entity_reads: int = 0
    chunk_reads: int = 0
    pushes: int = 0
    edges: int = 0
    dot_products: int = 0
    residual: float = 0.0
