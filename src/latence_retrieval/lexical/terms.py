"""Index terms: the words that BM25 counts, the same for chunks and for queries.

The terms of a text are its tokens in normal form (`text.tokenise`), each put through the stemmer, if any. In
scripts without spaces a token is one character, and there every two neighbouring characters are a term as well:
single characters find everything, pairs tell words apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from latence_retrieval.text.stemmer import Stemmer, stem_english
from latence_retrieval.text.tokenise import Words, is_spaceless, words_of

__all__ = ["ANALYSERS", "Analyser", "analyser_named"]


@dataclass(frozen=True, slots=True)
class Analyser:
    """Turns text into index terms.

    Attributes:
        name: what an index records, so that queries are analysed as the chunks were.
        stemmer: from a token's normal form to its stem; None keeps the form. Must be deterministic.
    """

    name: str
    stemmer: Stemmer | None = None

    def terms(self, text: str) -> list[str]:
        """Return the index terms of `text` in reading order, repetitions included."""
        return self.terms_of(words_of(text))

    def terms_of(self, words: Words) -> list[str]:
        """Return the index terms of a text that is tokenised already."""
        terms = words.forms if self.stemmer is None else list(map(self.stemmer, words.forms))
        if all(map(str.isascii, terms)):
            return terms
        pairs = [
            left.form + right.form
            for left, right in pairwise(words.tokens())
            if left.end == right.start and is_spaceless(left.form) and is_spaceless(right.form)
        ]
        return terms + pairs if pairs else terms


ANALYSERS: dict[str, Analyser] = {
    analyser.name: analyser for analyser in (Analyser("plain-1"), Analyser("english-1", stem_english))
}
"""The analysers that an index may name; the number rises with any change of the terms."""


def analyser_named(name: str) -> Analyser | None:
    """Return the analyser of that name, None where this release has none."""
    return ANALYSERS.get(name)
