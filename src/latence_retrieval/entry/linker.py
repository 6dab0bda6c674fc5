"""Resolve words of the query through the alias table: weights of forms, shares of homonyms.

A form weighs as much as the corpus writes it as a name (its link probability), times how rare its entities are
(ln(N / chunks) / ln N), times a factor for phrases that the builder discovered. Homonyms share that weight by prior
and, where vectors exist, by the softmax of their similarity to the query embedding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from latence_retrieval.ports.entry_tier import Link, Span, TierOutcome
from latence_retrieval.settings import EntrySettings
from latence_retrieval.sidecar.codec import AliasFlag, AliasForm, Candidate
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.text.match import (
    FUNCTION_WORDS,
    Match,
    find_matches,
    is_written_as_name,
    letter_cases,
    longest_first,
)
from latence_retrieval.text.tokenise import Token, is_spaceless, tokenise

__all__ = ["QueryLinker"]

EntityCosines = Callable[[Sequence[int]], Sequence[float | None] | None]
"""Cosine of each entity with the query embedding; None where there is no embedding or no vectors at all."""

Found = TypeVar("Found")

_CASED, _ACRONYM, _DISCOVERED = int(AliasFlag.CASED), int(AliasFlag.ACRONYM), int(AliasFlag.DISCOVERED)
"""Plain numbers: a flag of the enum takes some twenty times as long to test."""


class QueryLinker:
    """The alias look-ups of one query."""

    def __init__(self, query: str, sidecar: Sidecar, settings: EntrySettings, entity_cosines: EntityCosines) -> None:
        self._query = query
        self._sidecar = sidecar
        self._settings = settings
        self._entity_cosines = entity_cosines
        self.tokens = tokenise(query)
        self.lookups = 0
        self.is_cut = False

    def link_query(self, tier: str) -> TierOutcome:
        """Link every name that the query holds: all n-grams, the longest first (tier 1)."""
        tokens = self.tokens
        forms = [token.form for token in tokens]
        matches, self.is_cut = find_matches(
            forms,
            longest=self._sidecar.manifest.longest_alias_tokens,
            heads=self._counted(self._sidecar.alias_heads),
            look_up=self._counted(self._sidecar.alias_forms),
            max_lookups=self._settings.max_lookups,
        )
        cases = letter_cases(self._query, tokens)
        weighed = [(match, self._form_weight(match, forms, cases)) for match in matches]
        weight_of = {id(match): weight for match, weight in weighed if weight >= self._settings.min_form_weight}
        links: list[Link] = []
        for match in longest_first([match for match, _ in weighed if id(match) in weight_of]):
            span = self._span(tokens, match.start, match.stop)
            links += self._links(match.found, span, weight_of[id(match)], tier)
        return TierOutcome(tuple(links))

    def link_spans(self, spans: Sequence[Span], tier: str) -> TierOutcome:
        """Link spans that a model found, each as a whole; those that no alias equals come back unlinked."""
        links: list[Link] = []
        unlinked: list[Span] = []
        for span in spans:
            tokens = tokenise(span.text)
            forms = [token.form for token in tokens]
            whole = self._counted(self._sidecar.alias_forms)([" ".join(forms)])[0] if forms else None
            found = [] if whole is None else self._links(whole, span, span.confidence, tier)
            if found:
                links += found
            else:
                unlinked.append(span)
        return TierOutcome(tuple(links), tuple(unlinked))

    def _form_weight(self, match: Match[AliasForm], forms: Sequence[str], cases: bytes) -> float:
        """Return how much a form in the query is likely to be a name; 0.0 where it is not taken for one."""
        start, stop = match.start, match.stop
        single = stop - start == 1
        if single and (forms[start] in FUNCTION_WORDS or (len(match.form) == 1 and len(forms) > 1)):
            return 0.0
        candidates = match.found.candidates
        if not all(candidate.flags & _CASED for candidate in candidates):
            return 1.0
        named = is_written_as_name(forms, cases, start, stop)
        telling = named and not (single and start == 0 and not is_spaceless(forms[start]))
        probability = match.found.link_probability
        if probability == 1.0:  # the corpus never shows the form
            return 1.0 if telling else self._settings.unseen_lower_case_weight
        if telling:
            return math.sqrt(probability)
        if single and not named and probability < self._settings.min_lower_case_probability:
            return 0.0
        return probability

    def _links(self, form: AliasForm, span: Span, weight: float, tier: str) -> list[Link]:
        settings = self._settings
        candidates = form.candidates
        if not span.text.isupper():
            candidates = tuple(item for item in candidates if not item.flags & _ACRONYM)
        if not candidates:
            return []
        weight *= self._rarity(form.chunk_frequency)
        if candidates[0].flags & _DISCOVERED:
            weight *= settings.discovered_weight
        shares = self._shares(candidates)
        kept = [(entity, share) for entity, share in shares if share >= settings.min_homonym_share]
        return [
            Link(
                entity=entity,
                weight=weight * share,
                tier=tier,
                span=span,
                share=share,
                homonyms=tuple(other for other in shares if other[0] != entity),
            )
            for entity, share in kept
        ]

    def _rarity(self, chunk_frequency: int) -> float:
        chunks = self._sidecar.manifest.counts.chunks
        if chunks < 2:
            return 1.0
        rarity = math.log(chunks / max(1, min(chunks, chunk_frequency))) / math.log(chunks)
        return max(self._settings.min_rarity, rarity)

    def _shares(self, candidates: Sequence[Candidate]) -> list[tuple[int, float]]:
        """Return (entity, share), largest first, then by number."""
        if len(candidates) == 1:
            return [(candidates[0].entity, 1.0)]
        odds = [candidate.prior for candidate in candidates]
        cosines = self._entity_cosines([candidate.entity for candidate in candidates])
        if cosines is not None:
            known = [cosine for cosine in cosines if cosine is not None]
            best = max(known, default=0.0)
            mean = sum(known) / len(known) if known else 0.0
            odds = [
                odd * math.exp(self._settings.homonym_sharpness * ((mean if cosine is None else cosine) - best))
                for odd, cosine in zip(odds, cosines, strict=True)
            ]
        total = sum(odds)
        shares = [(candidate.entity, odd / total) for candidate, odd in zip(candidates, odds, strict=True)]
        return sorted(shares, key=lambda pair: (-pair[1], pair[0]))

    def _span(self, tokens: Sequence[Token], start: int, stop: int) -> Span:
        begin, end = tokens[start].start, tokens[stop - 1].end
        return Span(begin, end, self._query[begin:end])

    def _counted(self, look_up: Callable[[Sequence[str]], list[Found]]) -> Callable[[Sequence[str]], list[Found]]:
        def counted(keys: Sequence[str]) -> list[Found]:
            self.lookups += len(keys)
            return look_up(keys)

        return counted
