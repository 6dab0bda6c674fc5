"""Ranking, composed: candidates, their signals, their utility, and an order that covers the question."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from latence_retrieval.errors import MissingExtraError, TierError
from latence_retrieval.evidence.entering import Entered
from latence_retrieval.evidence.seeding import FirstStage, Lexical
from latence_retrieval.order import by_score, heaviest_first
from latence_retrieval.ports.relation_signal import RelationSignal
from latence_retrieval.query_view import QueryView
from latence_retrieval.results import Signal
from latence_retrieval.settings import Settings
from latence_retrieval.utility.confidence import confidence_signal, met_relations
from latence_retrieval.utility.confidence import relation_signal as relation_values
from latence_retrieval.utility.cover import covering_order
from latence_retrieval.utility.relation import open_question
from latence_retrieval.utility.signals import Utilities, activation_signal, weigh
from latence_retrieval.utility.translate import translated_similarity
from latence_retrieval.walk import Walk

__all__ = ["Ranked", "rank_chunks"]

SignalValues = Callable[[Sequence[int]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Ranked:
    """Chunks best first, what each is worth beside those above it, the utilities behind, and what fell short."""

    order: list[int]
    worth: dict[int, float]
    utilities: Utilities
    notes: tuple[str, ...] = ()


def rank_chunks(
    view: QueryView,
    entered: Entered,
    stage: FirstStage,
    walk: Walk,
    lexical: Lexical,
    lexical_best: Mapping[int, float],
    *,
    query: str,
    k: int,
    relation_signal: RelationSignal | None,
    strict: bool,
    settings: Settings,
) -> Ranked:
    """Score all candidates and order the best, at least `k` where there are so many.

    Raises:
        TierError, MissingExtraError: `strict`, and the relation signal failed or is not installed.
    """
    notes: list[str] = []
    translated = translated_similarity(view, entered.restart, walk, settings.translation)
    chunks = _candidates(stage, walk, translated or {}, lexical_best, settings.max_ranked)
    signals: dict[Signal, SignalValues | None] = {
        Signal.ACTIVATION: _activation(walk, settings),
        Signal.SIMILARITY: _similarity(view, stage),
        Signal.LEXICAL: _lexical(lexical, lexical_best),
        Signal.TRANSLATED: None if translated is None else _looked_up(translated),
        Signal.CONFIDENCE: confidence_signal(walk),
        Signal.RELQ: _relq(view, entered, walk, query, relation_signal, notes, strict=strict),
    }
    weights = {signal: float(getattr(settings.weights, signal.value)) for signal in Signal}
    utilities = weigh(chunks, signals, weights)
    total = sum(weights[signal] for signal in utilities.weights) or 1.0
    ordered = by_score(
        utilities.scores,
        lambda numbers: [chunk.id for chunk in view.sidecar.chunks(numbers)],
        limit=max(k, 2 * settings.cover_depth),
    )
    covered = covering_order(
        ordered,
        utilities.scores,
        view.terms.weights,
        view.terms.held_by,
        coverage=settings.coverage / total,
        depth=settings.cover_depth,
    )
    return Ranked([chunk for chunk, _ in covered], dict(covered), utilities, tuple(notes))


def _candidates(
    stage: FirstStage,
    walk: Walk,
    translated: Mapping[int, float],
    lexical_best: Mapping[int, float],
    limit: int,
) -> list[int]:
    """Return the chunks worth scoring, ascending: the best of each source, bounded."""
    if len(walk.chunks) + len(translated) + len(stage.ranks) + len(lexical_best) <= limit:
        return sorted({*walk.chunks, *translated, *stage.ranks, *lexical_best})
    sources = [heaviest_first(walk.chunks), heaviest_first(translated), list(stage.ranks), list(lexical_best)]
    longest = max(map(len, sources))
    chosen: dict[int, None] = {}
    depth = 0
    while len(chosen) < limit and depth < longest:
        chosen.update([(source[depth], None) for source in sources if depth < len(source)])
        depth += 1
    return sorted(list(chosen)[:limit])


def _activation(walk: Walk, settings: Settings) -> SignalValues | None:
    if not walk.chunks:
        return None
    return activation_signal(walk, power=settings.activation_power, far_floor=settings.far_hop_floor)


def _looked_up(values: Mapping[int, float]) -> SignalValues:
    return lambda chunks: [values.get(chunk, 0.0) for chunk in chunks]


def _similarity(view: QueryView, stage: FirstStage) -> SignalValues | None:
    """Cosine with the query where vectors exist, else the caller's own scores relative to the best, else absent."""
    if view.has_similarity:
        return view.similarity
    return _looked_up(stage.scores) if stage.scores else None


def _lexical(lexical: Lexical, best: Mapping[int, float]) -> SignalValues | None:
    """BM25 relative to the best chunk of the corpus; absent where no chunk shares a word with the question."""
    most = max(best.values(), default=0.0)
    if most <= 0.0:
        return None
    return lambda chunks: [score / most for score in lexical.scores(chunks)]


def _relq(
    view: QueryView,
    entered: Entered,
    walk: Walk,
    query: str,
    relation_signal: RelationSignal | None,
    notes: list[str],
    *,
    strict: bool,
) -> SignalValues | None:
    """Probability that the question asks for the facts' relations; absent where nothing gives one, or it fails."""
    if not walk.fact_mass or (entered.relations is None and relation_signal is None):
        return None
    by_chunk = met_relations(walk)
    met = sorted({relation for relations in by_chunk.values() for relation in relations})
    described = view.sidecar.relations(met)
    scores = entered.relations
    if scores is None and relation_signal is not None:
        try:
            asked = _asked(view, entered, relation_signal)
            scores = _finite(relation_signal.relation_scores(query, dict(described), asked))
        except Exception as error:
            if strict:
                if isinstance(error, MissingExtraError):
                    raise
                raise TierError(relation_signal.name, error) from error
            notes.append(f"relq is absent: {relation_signal.name} failed: {type(error).__name__}: {error}")
    if scores is None:
        return None
    by_number = {number: scores.get(label, 0.0) for number, (label, _) in zip(met, described, strict=True)}
    return relation_values(by_chunk, by_number)


def _asked(view: QueryView, entered: Entered, relation_signal: RelationSignal) -> Sequence[float] | None:
    """Return the query's embedding, without half of what the query names where the signal wants it so."""
    embedding = view.embedding
    if embedding is None or not entered.is_named or not getattr(relation_signal, "reads_open_question", False):
        return embedding
    restart = entered.restart
    return open_question(embedding, zip(restart.values(), view.entity_vectors(list(restart)), strict=True))


def _finite(scores: Mapping[str, float] | None) -> dict[str, float] | None:
    """Return what a relation signal gave, or raise ValueError: it may be anybody's code."""
    if scores is None:
        return None
    plain = {label: float(score) for label, score in scores.items()}
    if not all(math.isfinite(score) for score in plain.values()):
        raise ValueError("a score is no finite number")
    return plain
