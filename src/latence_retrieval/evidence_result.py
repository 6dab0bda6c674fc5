"""The answer of `retrieve_evidence`: anchors, chains, ranking and selection, and what was not possible."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from latence_retrieval.prompt import packed_text
from latence_retrieval.results import (
    Anchor,
    Chain,
    Degradation,
    Dropped,
    Hop,
    RankedChunk,
    Selection,
    Share,
    Signal,
    TierRecord,
    Work,
)

__all__ = ["EvidenceResult"]


class EvidenceResult(BaseModel):
    """Evidence for one question.

    Frozen, and equal for equal calls on equal snapshots; `EvidenceResult.model_validate_json(r.model_dump_json())`
    equals `r`.

    Attributes:
        query: as asked.
        snapshot_id: which published snapshot answered.
        tenant: whose it is.
        anchors: what the question is about, heaviest first.
        tiers: what each tier gave, skipped or could not do.
        chains: ways from anchors to passages, best first.
        ranking: passages, best first, at most `k`.
        selection: the passages packed under the budget.
        dropped: ranked passages that were not packed, and why.
        weights: each present signal's part of the utility; absent signals are not listed.
        degradations: what a stage could not do, and why.
        work: how much was read and computed.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    query: str
    snapshot_id: str
    tenant: str | None = None
    anchors: tuple[Anchor, ...] = ()
    tiers: tuple[TierRecord, ...] = ()
    chains: tuple[Chain, ...] = ()
    ranking: tuple[RankedChunk, ...] = ()
    selection: Selection = Selection()
    dropped: tuple[Dropped, ...] = ()
    weights: dict[Signal, Share] = {}
    degradations: tuple[Degradation, ...] = ()
    work: Work = Work()

    def to_prompt(self) -> str:
        """Return the packed passages, numbered for citation: exactly the text that was counted against the budget."""
        return packed_text([selected.chunk for selected in self.selection.chunks])

    def explain(self) -> str:
        """Return in words what was found, by which way, and what was left out."""
        lines = [f"Question: {self.query}", f"Snapshot: {self.snapshot_id}"]
        lines.append("Anchors:" if self.anchors else "Anchors: none")
        lines += [f"  {_anchor_line(anchor)}" for anchor in self.anchors]
        lines += [f"  tier {record.tier}: {record.state.value}{_after(record.detail)}" for record in self.tiers]
        lines.append("Chains:" if self.chains else "Chains: none")
        for number, chain in enumerate(self.chains, start=1):
            joined = ", joins two anchors" if chain.joins else ""
            lines.append(f"  {number}. score {chain.score:.3f}{joined}")
            lines += [f"     {_hop_line(hop)}" for hop in chain.hops]
        selection = self.selection
        lines.append(
            f"Packed: {len(selection.chunks)} passages, {selection.tokens} of {selection.budget_tokens} tokens, "
            f"at least {selection.guaranteed_share:.0%} of the best possible value"
        )
        for selected in selection.chunks:
            title = selected.chunk.title or selected.chunk.id
            why = "; ".join(selected.reasons)
            lines.append(
                f"  [{selected.citation}] {title} (utility {selected.utility:.3f}, {selected.tokens} tokens): {why}"
            )
        lines += [f"Not packed: {item.chunk_id}: {item.reason}" for item in self.dropped]
        lines += [f"Degraded: {item.stage}: {item.reason}" for item in self.degradations]
        return "\n".join(lines)


def _anchor_line(anchor: Anchor) -> str:
    where = f' from "{anchor.form}" at {anchor.start}-{anchor.end}' if anchor.form is not None else ""
    others = ", ".join(f"{item.name} ({item.share:.2f})" for item in anchor.passed_over[:3])
    passed = f"; passed over: {others}" if others else ""
    return f"{anchor.name} [{anchor.entity_id}], weight {anchor.weight:.3f}, tier {anchor.tier}{where}{passed}"


def _hop_line(hop: Hop) -> str:
    source = hop.source.name if hop.source else "(first stage)"
    target = f" -> {hop.target.name}" if hop.target else ""
    return f"{source} --{hop.relation}--{target} [{hop.chunk_id}]"


def _after(detail: str | None) -> str:
    return f" ({detail})" if detail else ""
