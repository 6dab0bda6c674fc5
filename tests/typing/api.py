"""The public interface as a caller's type checker sees it: checked by mypy, never run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import assert_type

from latence_retrieval import (
    BuildReport,
    Chunk,
    Entity,
    EvidenceResult,
    Fact,
    Member,
    Settings,
    Sidecar,
    build_sidecar,
    retrieve_evidence,
    verify_sidecar,
)
from latence_retrieval.ports.entity_index import EntityIndex
from latence_retrieval.ports.entry_tier import EntryRequest, EntryTier, TierOutcome
from latence_retrieval.ports.token_counter import TokenCounter
from latence_retrieval.results import Anchor, Chain, RankedChunk, SelectedChunk


class MyTier:
    """A third party's tier."""

    name = "mine"

    def enter(self, request: EntryRequest) -> TierOutcome:
        """Link nothing."""
        return TierOutcome(unlinked=request.link_spans((), self.name).unlinked)


class MyIndex:
    """An adopter's vector database."""

    dimension = 384

    def nearest(self, embedding: Sequence[float], k: int) -> list[tuple[str, float]]:
        """Find nothing."""
        return [("id", embedding[0])][:k]


def count_words(text: str) -> int:
    """Count by a tokenizer of the caller's."""
    return len(text.split())


def build(path: Path) -> BuildReport:
    """Records, mappings and files are all sources."""
    entities = [Entity(id="e", name="E"), Entity(id="f", name="F")]
    facts = [Fact(relation="r", members=(Member(entity="e"), Member(entity="f", role="object")), chunk="c")]
    report = build_sidecar(path, chunks=iter([Chunk(id="c", text="t")]), entities=entities, facts=facts)
    build_sidecar(str(path), chunks=path / "chunks.jsonl", chunk_vectors="vectors.npz:chunks", replace=True)
    build_sidecar(path, chunks=[{"id": "c", "text": "t"}], chunk_vectors=[[1.0, 0.0]], backend="lmdb")
    return report


def ask(path: Path) -> None:
    """Everything that a call takes and gives."""
    tier: EntryTier = MyTier()
    index: EntityIndex = MyIndex()
    counter: TokenCounter = count_words
    result = retrieve_evidence(
        "question",
        sidecar=path,
        embedding=(0.1, 0.2),
        first_stage=["c", ("d", 0.5)],
        budget_tokens=100,
        k=5,
        tiers=("ann", 1, tier),
        entity_index=index,
        count_tokens=counter,
        tenant="t",
        embedding_model="m",
        strict=True,
        settings=Settings(max_chains=3),
    )
    assert_type(result, EvidenceResult)
    assert_type(result.anchors, tuple[Anchor, ...])
    assert_type(result.chains, tuple[Chain, ...])
    assert_type(result.ranking, tuple[RankedChunk, ...])
    assert_type(result.selection.chunks, tuple[SelectedChunk, ...])
    assert_type(result.selection.guaranteed_share, float)
    assert_type(result.to_prompt(), str)
    assert_type(result.explain(), str)
    assert_type(result.chains[0].hops[0].target.name if result.chains[0].hops[0].target else None, str | None)
    with Sidecar.open(path, tenant="t") as sidecar:
        assert_type(sidecar, Sidecar)
        assert_type(retrieve_evidence("question", sidecar=sidecar), EvidenceResult)
    assert_type(verify_sidecar(path).snapshot_id, str)
