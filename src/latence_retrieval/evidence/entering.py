"""Entry, composed: run the tiers and make the restart vector; then see what of the question they leave open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index

from latence_retrieval.entry.ladder import run_ladder
from latence_retrieval.entry.linker import QueryLinker
from latence_retrieval.entry.restart import RECALL_TIER, restart_vector
from latence_retrieval.entry.tiers import AliasTier, AnnTier
from latence_retrieval.ports.entity_index import EntityIndex
from latence_retrieval.ports.entry_tier import EntryRequest, EntryTier, Link
from latence_retrieval.query_view import QueryView, QuestionTerms
from latence_retrieval.results import TierRecord, TierState
from latence_retrieval.settings import EntrySettings
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.text.content import content_terms
from latence_retrieval.text.tokenise import Token

__all__ = ["Entered", "enter", "open_terms"]

_MAX_RELATION_LABELS = 32  # bound: what a classifier is asked about
_MAX_TERMS = 64  # bound: content terms of the question that are looked up


@dataclass(frozen=True, slots=True)
class Entered:
    """What the tiers found.

    Attributes:
        anchors: links with their restart mass, heaviest first.
        records: what each tier did.
        relations: probability by label; None where no tier gave any.
        tokens: the question's, in reading order.
    """

    anchors: tuple[tuple[Link, float], ...]
    records: tuple[TierRecord, ...]
    relations: Mapping[str, float] | None
    tokens: Sequence[Token] = ()

    @property
    def is_named(self) -> bool:
        """Whether the query names what it is about, rather than lying near it."""
        return any(link.tier != RECALL_TIER for link, _ in self.anchors)

    def doubt(self, sure_weight: float) -> float:
        """Return the part in [0, 1] that tier 1's names fall short of a weight; 0 where another tier named anything."""
        if not self.anchors or any(link.tier != "alias" for link, _ in self.anchors):
            return 0.0  # what other tiers weigh is on scales of their own
        weight = sum([link.weight for link, _ in self.anchors])
        return 1.0 - weight / sure_weight if weight < sure_weight else 0.0

    @property
    def spans(self) -> dict[int, tuple[int, int]]:
        """Where in the query each anchor's words stand; anchors without words are left out."""
        return {link.entity: (link.span.start, link.span.end) for link, _ in self.anchors if link.span is not None}

    @property
    def restart(self) -> dict[int, float]:
        """Mass by entity; it sums to one, or is empty."""
        return {link.entity: mass for link, mass in self.anchors}


def enter(
    view: QueryView,
    query: str,
    tiers: Sequence[str | EntryTier],
    *,
    entity_index: EntityIndex | None,
    strict: bool,
    settings: EntrySettings,
) -> Entered:
    """Find the anchors of a query."""
    desk = _Desk(view, query, entity_index, settings)
    recall = AnnTier(nearest_entities=settings.nearest_entities)
    built_in: dict[str, EntryTier] = {recall.name: recall, "alias": AliasTier(desk.linker)}
    chosen = [built_in[tier] if isinstance(tier, str) else tier for tier in tiers]
    naming = [tier for tier in chosen if tier.name != RECALL_TIER]
    entities = view.sidecar.manifest.counts.entities
    path = view.sidecar.path
    outcome = run_ladder(naming, desk.request(), entities=entities, snapshot=path, strict=strict)
    links, records = outcome.links, list(outcome.records)
    if len(naming) < len(chosen):  # tier 0: only where nothing is named
        if links:
            records.append(TierRecord(tier=RECALL_TIER, state=TierState.SKIPPED, detail="the query names its entities"))
        else:
            recalled = run_ladder([recall], desk.request(), entities=entities, snapshot=path, strict=strict)
            links, records = recalled.links, [*records, *recalled.records]
    anchors = restart_vector(links, max_anchors=settings.max_anchors)
    view.lookups += desk.linker.lookups
    return Entered(tuple(anchors), tuple(records), outcome.relations, desk.linker.tokens)


class _Desk:
    """Answers what tiers may ask: look-ups of this snapshot for this query."""

    def __init__(self, view: QueryView, query: str, entity_index: EntityIndex | None, settings: EntrySettings) -> None:
        self._view = view
        self._query = query
        self._index = entity_index
        self._max_anchors = settings.max_anchors
        self.linker = QueryLinker(query, view.sidecar, settings, self._cosines)

    def request(self) -> EntryRequest:
        has_vectors = self._index is not None or self._view.sidecar.entity_vectors is not None
        return EntryRequest(
            query=self._query,
            embedding=self._view.embedding,
            entity_types=self._view.sidecar.manifest.entity_types,
            link_spans=self.linker.link_spans,
            nearest=self._nearest if has_vectors else None,
            relation_labels=self._relation_labels,
        )

    def _cosines(self, entities: Sequence[int]) -> list[float | None] | None:
        vectors = self._view.sidecar.entity_vectors
        if vectors is None or self._view.embedding is None:
            return None
        self._view.dot_products += len(entities)
        found = vectors.dots(self._view.embedding, entities)
        return [
            None if cosine == 0.0 and vectors.is_absent(entity) else cosine
            for entity, cosine in zip(entities, found, strict=True)
        ]

    def _nearest(self, embedding: Sequence[float], k: int) -> list[tuple[int, float]]:
        """Search entity vectors; the adopter's index may answer with ids, and ids that are not here are left out."""
        sidecar = self._view.sidecar
        if self._index is None:
            vectors = sidecar.entity_vectors
            return [] if vectors is None else vectors.nearest(embedding, k)
        found = list(self._index.nearest(embedding, k))[:k]
        ids = [entity for entity, _ in found if isinstance(entity, str)]
        number_of = dict(zip(ids, sidecar.entity_numbers(ids), strict=True))
        count = sidecar.manifest.counts.entities
        numbered = [
            (number_of[entity] if isinstance(entity, str) else index(entity), cosine) for entity, cosine in found
        ]
        return [(entity, cosine) for entity, cosine in numbered if entity is not None and 0 <= entity < count]

    def _relation_labels(self) -> dict[str, str | None]:
        """Return the relation labels around what the query names, most frequent first, then by number."""
        links = self.linker.link_query("alias").links
        counts: Counter[int] = Counter()
        anchors = sorted(links, key=lambda item: (-item.weight, item.entity))[: self._max_anchors]
        for block in self._view.incidences([link.entity for link in anchors]):
            if block is not None:
                counts.update(relation for relation in block.relations if relation)
        if not counts:
            total = self._view.sidecar.manifest.counts.relations
            counts.update(range(1, min(total, _MAX_RELATION_LABELS + 1)))
        chosen = sorted(counts, key=lambda relation: (-counts[relation], relation))[:_MAX_RELATION_LABELS]
        return dict(self._view.sidecar.relations(chosen))


def open_terms(sidecar: Sidecar, entered: Entered) -> QuestionTerms:
    """Return the question's content terms, those inside the anchors' names marked as explained."""
    tokens = entered.tokens
    spans = [link.span for link, _ in entered.anchors if link.span is not None]
    named = [any(span.start <= token.start and token.end <= span.end for span in spans) for token in tokens]
    terms = list(dict.fromkeys(content_terms([token.form for token in tokens])))[:_MAX_TERMS]
    explained = content_terms([token.form for token, inside in zip(tokens, named, strict=True) if inside])
    return QuestionTerms(
        terms, sidecar.term_sentences(terms), chunks=sidecar.manifest.counts.chunks, explained=explained
    )
