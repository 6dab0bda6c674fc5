"""Index terms: the words that BM25 counts, the same for chunks and for queries.

The terms of a text are its tokens in normal form (`text.tokenise`), each put through the stemmer, if any. In
scripts without spaces a token is one character, and there every two neighbouring characters are a term as well:
single characters find everything, pairs tell words apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from latence_retrieval.text.stemmer import Stemmer, stem_english
from latence_retrieval.text.tokenise import Token, is_spaceless, tokenise

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
        return self.terms_of(tokenise(text))

    def terms_of(self, tokens: Sequence[Token]) -> list[str]:
        """Return the index terms of a text that is tokenised already."""
        stem = self.stemmer
        forms = [token.form for token in tokens] if stem is None else [stem(token.form) for token in tokens]
        if all(map(str.isascii, forms)):
            return forms
        pairs = [
            left.form + right.form
            for left, right in pairwise(tokens)
            if left.end == right.start and is_spaceless(left.form) and is_spaceless(right.form)
        ]
        return forms + pairs if pairs else forms


ANALYSERS: dict[str, Analyser] = {
    analyser.name: analyser for analyser in (Analyser("plain-1"), Analyser("english-1", stem_english))
}
"""The analysers that an index may name; the number rises with any change of the terms."""


def analyser_named(name: str) -> Analyser | None:
    """Return the analyser of that name, None where this release has none."""
    return ANALYSERS.get(name)
