"""`retrieve_evidence`, the one call."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from latence_retrieval.arguments import checked_path, checked_query
from latence_retrieval.chains.search import best_chains, find_paths
from latence_retrieval.errors import InvalidInputError
from latence_retrieval.evidence.entering import Entered, enter, open_terms
from latence_retrieval.evidence.inputs import (
    FirstStageHit,
    Tier,
    check_parts,
    check_snapshot,
    checked_counts,
    checked_first_stage,
    checked_tiers,
    read_query,
    unit_embedding,
)
from latence_retrieval.evidence.packing import pack_ranked
from latence_retrieval.evidence.ranking import rank_chunks
from latence_retrieval.evidence.seeding import Lexical, take_first_stage
from latence_retrieval.evidence.telling import Names, tell_anchors, tell_chains, tell_degradations, tell_ranking
from latence_retrieval.evidence_result import EvidenceResult
from latence_retrieval.ports.entity_index import EntityIndex
from latence_retrieval.ports.relation_signal import RelationSignal
from latence_retrieval.ports.token_counter import TokenCounter
from latence_retrieval.propagate.push import push
from latence_retrieval.query_view import QueryView
from latence_retrieval.select.tokens import estimate_tokens
from latence_retrieval.settings import Settings, WalkSettings
from latence_retrieval.sidecar.damage import damage_told
from latence_retrieval.sidecar.read import Sidecar

__all__ = ["retrieve_evidence"]

DEFAULT_SETTINGS = Settings()


def retrieve_evidence(
    query: str,
    *,
    sidecar: str | Path | Sidecar,
    embedding: Sequence[float] | None = None,
    first_stage: Sequence[FirstStageHit] = (),
    budget_tokens: int = 1024,
    k: int = 10,
    tiers: Sequence[Tier] = ("ann", "alias"),
    entity_index: EntityIndex | None = None,
    relation_signal: RelationSignal | None = None,
    count_tokens: TokenCounter = estimate_tokens,
    tenant: str | None = None,
    embedding_model: str | None = None,
    strict: bool = False,
    settings: Settings = DEFAULT_SETTINGS,
) -> EvidenceResult:
    """Answer a question with evidence that hops.

    Stateless and synchronous: nothing is kept between calls, and calls may run in any number of threads. Equal calls
    on equal snapshots give equal results, in any process.

    Args:
        query: the question.
        sidecar: a published snapshot's directory, opened for this call, or one that the caller keeps open.
        embedding: the query embedding of the caller's own first-stage search, from the model that made the snapshot's
            vectors, of any length but zero. Without it, what needs vectors is absent.
        first_stage: the caller's own hits, best first: chunk ids, or (chunk id, score). They start a small part of
            the walk, and are candidates. Without them the snapshot's own BM25 stands in.
        budget_tokens: for the packed text as a whole; never exceeded.
        k: at most so many passages are ranked and packed.
        tiers: where anchors come from: "ann" (0), "alias" (1), or `EntryTier` objects. Tier 0 enters only where the
            others name nothing.
        entity_index: searches entity vectors for tier 0; None scans the snapshot's.
        relation_signal: scores relation types against the question; used where no tier gives them.
        count_tokens: the caller's tokenizer's count; the default estimates.
        tenant: refuse a snapshot of another tenant.
        embedding_model: refuse a snapshot whose vectors another model made.
        strict: raise what a tier raises, instead of recording it and going on.
        settings: weights and limits.

    Returns:
        Anchors, chains, ranking and selection, with what was dropped, degraded, read and computed. Passages are
        ordered by utility and by what each adds of the question's terms, ties by ascending id.

    Raises:
        InvalidInputError: an argument that cannot be used, before any work.
        SidecarError: the snapshot is missing, damaged, newer, or another one than asked for.
        TierError, MissingExtraError: `strict`, and a tier failed or is not installed.
    """
    if not isinstance(settings, Settings):
        raise InvalidInputError("settings", f"is {settings!r}", fix="give a Settings object")
    question = read_query(checked_query(query), max_chars=settings.entry.max_query_chars)
    checked_counts(k=k, budget_tokens=budget_tokens)
    check_parts(entity_index, relation_signal, count_tokens)
    hits = checked_first_stage(first_stage)
    chosen_tiers = checked_tiers(tiers)
    if isinstance(sidecar, Sidecar):
        check_snapshot(sidecar, tenant=tenant, embedding_model=embedding_model)
        opened: AbstractContextManager[Sidecar] = nullcontext(sidecar)
    else:
        opened = Sidecar.open(checked_path("sidecar", sidecar), tenant=tenant, embedding_model=embedding_model)
    with opened as snapshot:
        manifest = snapshot.manifest
        unit = unit_embedding(embedding, snapshot, entity_index)
        if k == 0:
            return EvidenceResult(query=question.asked, snapshot_id=manifest.snapshot_id, tenant=manifest.tenant)
        with damage_told(snapshot):
            lexical = Lexical(snapshot, question.read)
            view = QueryView(snapshot, embedding=unit, settings=settings.walk)
            entered = enter(
                view, question.read, chosen_tiers, entity_index=entity_index, strict=strict, settings=settings.entry
            )
            view.begin(open_terms(snapshot, entered), entered.restart)
            lexical_best = lexical.best(settings.lexical_candidates)
            stage = take_first_stage(
                view, hits, lexical_best, share=_first_stage_share(entered, settings.walk), settings=settings
            )
            walk = push(view, _less(entered, sum(stage.mass.values())), stage.mass, settings.walk)
            ranked = rank_chunks(
                view,
                entered,
                stage,
                walk,
                lexical,
                lexical_best,
                query=question.read,
                k=k,
                relation_signal=relation_signal,
                strict=strict,
                settings=settings,
            )
            paths = find_paths(walk, ranked.order[:k], ranked.utilities.scores, spans=entered.spans)
            chains = best_chains(paths, max_chains=settings.max_chains)
            names = Names(view, entered, paths, ranked.order[:k])
            ranking = tell_ranking(ranked, stage, paths, names, k=k)
        selection, dropped = pack_ranked(
            ranked, ranking, chains, names, budget_tokens=budget_tokens, count=count_tokens, settings=settings.selection
        )
        return EvidenceResult(
            query=question.asked,
            snapshot_id=manifest.snapshot_id,
            tenant=manifest.tenant,
            anchors=tell_anchors(entered, names),
            tiers=entered.records,
            chains=tell_chains(chains, names),
            ranking=ranking,
            selection=selection,
            dropped=dropped,
            weights=ranked.utilities.weights,
            degradations=tell_degradations(view, question.notes, entered, stage, ranked),
            work=view.work(pushes=walk.pushes, residual=walk.residual),
        )


def _first_stage_share(entered: Entered, settings: WalkSettings) -> float:
    """Return the first stage's part of the mass: little beside sure anchors, much beside recalled ones, else all."""
    if entered.is_named:
        least = settings.first_stage_share
        return least + (1.0 - least) * entered.doubt(settings.sure_weight)
    return 1.0 - settings.recalled_share if entered.anchors else 1.0


def _less(entered: Entered, seeded: float) -> dict[int, float]:
    """Return the anchors' mass, scaled to leave room for the first stage's."""
    return {entity: (1.0 - seeded) * mass for entity, mass in entered.restart.items()}
