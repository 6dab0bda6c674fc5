"""How well an entity's name answers a query: string similarity with field weights, and which string matched."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from latence_retrieval.lexical.blocking import ALL_KINDS, KeyKind, content_tokens, initials_of, query_keys, surface_keys
from latence_retrieval.records import Entity
from latence_retrieval.text.similarity import string_similarity
from latence_retrieval.text.tokenise import tokenise

__all__ = ["ALIAS_WEIGHT", "PROPERTY_WEIGHT", "MatchedField", "NameMatch", "NameScorer"]

ALIAS_WEIGHT = 0.98
"""An alias counts a shade less than a name, so that its bearer by name comes first. A judgement, not a fit."""

PROPERTY_WEIGHT = 0.6
"""A property's value tells less than a name. A judgement, not a fit."""

REORDERED = 0.95
"""Similarity of two names of the same words in another order."""

CONTAINED = 0.8
"""Similarity, at least, where all words of one string stand in the other. Above what unrelated short names reach by
their letters alone (with 0.45, a last word found its bearer in 64 of 100 cases of `ror`, now in 99; adr/0013)."""

INITIALS = 0.85
"""Similarity of a name and its initials."""


class MatchedField(StrEnum):
    """Where the string that matched best stands."""

    NAME = "name"
    ALIAS = "alias"
    PROPERTY = "property"


class NameMatch(NamedTuple):
    """The best match of one entity: a similarity in [0, 1], the string as written, and its field."""

    score: float
    matched: str
    field: MatchedField


class _Profile(NamedTuple):
    form: str
    tokens: frozenset[str]
    size: int  # characters of all tokens
    initials: str


class NameScorer:
    """Scores entities against one query.

    The similarity of two strings is the highest of: that of their normal forms (`string_similarity`); 0.95 where
    they have the same words in another order; 0.85 where the query is the other's initials; and, where they share
    words, m · (0.8 + 0.15 · n), for the larger part m and the smaller part n of the characters of either that stand
    in shared words. So a surname alone and a name inside a question score by what they cover. Function words do not
    count as words.
    """

    def __init__(self, query: str, *, aliases: bool = True, kinds: frozenset[KeyKind] = ALL_KINDS) -> None:
        """Analyse the query once.

        Args:
            query: a name, or a text with names in it.
            aliases: whether aliases count; without, an entity must share a key by its name.
            kinds: the kinds of keys that candidates were found by; shared words count with `KeyKind.TOKEN` only, initials with
                `KeyKind.ACRONYM`.
        """
        self._query = _profile(query)
        self._aliases = aliases
        self._words = KeyKind.TOKEN in kinds
        self._initials = self._query.form if KeyKind.ACRONYM in kinds and " " not in self._query.form else ""
        self._keys = None if aliases else frozenset(query_keys(query, kinds=kinds))

    def match(self, entity: Entity) -> NameMatch | None:
        """Return the best match among name, aliases and string properties; None where nothing is alike.

        Of equally good strings the name comes first, then aliases and properties in their order.
        """
        if self._keys is not None and self._keys.isdisjoint(surface_keys(entity.name)):
            return None
        best = NameMatch(self._similarity(entity.name, 0.0), entity.name, MatchedField.NAME)
        if self._aliases:
            best = self._better(best, entity.aliases, ALIAS_WEIGHT, MatchedField.ALIAS)
        if entity.properties:
            values = [value for value in entity.properties.values() if isinstance(value, str)]
            best = self._better(best, values, PROPERTY_WEIGHT, MatchedField.PROPERTY)
        return best if best.score > 0.0 else None

    def _better(
        self, best: NameMatch, surfaces: tuple[str, ...] | list[str], weight: float, field: MatchedField
    ) -> NameMatch:
        for surface in surfaces:
            if best.score >= weight:
                return best
            score = weight * self._similarity(surface, best.score / weight)
            if score > best.score:
                best = NameMatch(score, surface, field)
        return best

    def _similarity(self, surface: str, floor: float) -> float:
        """Return the similarity, exact where it exceeds `floor`."""
        query, other = self._query, _profile(surface)
        if query.form == other.form:
            return 1.0 if query.form else 0.0
        score = self._shared_words(query, other) if self._words else 0.0
        if self._initials and self._initials == other.initials:
            score = max(score, INITIALS)
        shorter, longer = sorted((len(query.form), len(other.form)))
        if 2.0 * shorter / (shorter + longer) > max(score, floor):
            score = max(score, string_similarity(query.form, other.form))
        return score

    @staticmethod
    def _shared_words(query: _Profile, other: _Profile) -> float:
        shared = query.tokens & other.tokens
        if not shared:
            return 0.0
        size = sum(map(len, shared))
        if size == query.size == other.size:
            return REORDERED
        smaller, larger = sorted((size / query.size, size / other.size))
        return larger * (CONTAINED + (REORDERED - CONTAINED) * smaller)


@lru_cache(maxsize=65_536)
def _profile(surface: str) -> _Profile:
    tokens = tokenise(surface)
    words = frozenset(content_tokens(tokens))
    return _Profile(" ".join(token.form for token in tokens), words, sum(map(len, words)), initials_of(tokens))
