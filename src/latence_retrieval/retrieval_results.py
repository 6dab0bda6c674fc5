"""What the hybrid surfaces return: entities or chunks with a fused score and what each channel said of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from latence_retrieval.lexical.names import MatchedField
from latence_retrieval.records import Chunk, Entity

__all__ = [
    "Bm25Score",
    "ChunkRetrievalResult",
    "FusedScore",
    "MatchedField",
    "NameSimilarity",
    "RetrievalMode",
    "RetrievalResult",
    "ScoredChunk",
    "ScoredEntity",
    "VectorSimilarity",
]

FusedScore = Annotated[
    float, Field(gt=0.0, description="reciprocal rank fusion: ordinal, comparable within one result, no similarity")
]
VectorSimilarity = Annotated[float, Field(ge=0.0, le=1.0, description="(1 + cosine) / 2")]
NameSimilarity = Annotated[float, Field(ge=0.0, le=1.0, description="string similarity with field weights")]
Bm25Score = Annotated[float, Field(ge=0.0, description="BM25: unbounded, comparable within one query")]


class RetrievalMode(StrEnum):
    """Which channels run."""

    SEMANTIC = "semantic"
    LEXICAL = "lexical"
    HYBRID = "hybrid"


class _Result(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScoredEntity(_Result):
    """One entity that was found.

    Attributes:
        score: fused from the ranks in each channel. Two channels that agree on the first place give 2/61.
        semantic: similarity of the vectors; None where that channel did not rank the entity, which is not 0.0.
        lexical: similarity of the names; None where that channel did not rank the entity, which is not 0.0.
        matched: the string of the entity that the lexical channel matched, as written; None without that channel.
        matched_field: where that string stands.
    """

    entity: Entity
    score: FusedScore
    semantic: VectorSimilarity | None = None
    lexical: NameSimilarity | None = None
    matched: str | None = None
    matched_field: MatchedField | None = None


class ScoredChunk(_Result):
    """One chunk that was found.

    Attributes:
        score: fused from the ranks in each channel.
        semantic: similarity of the vectors; None where that channel did not rank the chunk, which is not 0.0.
        lexical: BM25; None where that channel did not rank the chunk, which is not 0.0.
    """

    chunk: Chunk
    score: FusedScore
    semantic: VectorSimilarity | None = None
    lexical: Bm25Score | None = None


class _Ranking(_Result):
    """What the two results have in common.

    Attributes:
        query: as given.
        mode: the channels that ran.
        truncated: whether only the beginning of the query was looked at (`hybrid.MAX_QUERY_CHARACTERS`).
        semantic_count: how many the semantic channel ranked; None where it did not run. 0 over a corpus that holds
            text usually means that it was indexed without embeddings.
        lexical_count: how many the lexical channel ranked; None where it did not run.
        dangling: ids that a channel ranked among the best `k` and the store does not hold. They are left out and
            nothing moves up for them: a store that lags behind shows as a short result.
    """

    query: str
    mode: RetrievalMode
    truncated: bool = False
    semantic_count: int | None = None
    lexical_count: int | None = None
    dangling: tuple[str, ...] = ()


class RetrievalResult(_Ranking):
    """Entities, by score descending, then id ascending."""

    matches: tuple[ScoredEntity, ...] = ()


class ChunkRetrievalResult(_Ranking):
    """Chunks, by score descending, then id ascending."""

    matches: tuple[ScoredChunk, ...] = ()
