"""Content words: what of a question or a sentence carries meaning, in a form that inflections share."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from latence_retrieval.text.match import FUNCTION_WORDS
from latence_retrieval.text.tokenise import is_spaceless

__all__ = ["content_stem", "content_term", "content_terms"]

_SUFFIXES = ("ing", "ied", "ies", "ed", "es", "s", "er", "or", "ion")
_SHORTEST_STEM = 3


def content_stem(form: str) -> str:
    """Return a word without its commonest English endings, so that director, directed and direction agree.

    Coarser than the stemmer of BM25, and harmless where it errs: two words that fall together share a bit of
    evidence, none is lost. The endings are a subset of those of Lovins (1968).
    """
    if len(form) > _SHORTEST_STEM + 1 and form.isascii():
        for suffix in _SUFFIXES:
            if form.endswith(suffix) and len(form) - len(suffix) >= _SHORTEST_STEM:
                form = form[: -len(suffix)]
                break
        if form.endswith("e") and len(form) > _SHORTEST_STEM:
            form = form[:-1]
    elif len(form) == _SHORTEST_STEM + 1 and form.endswith("s"):
        form = form[:-1]
    return form


@lru_cache(maxsize=65_536)
def content_term(form: str) -> str:
    """Return the stem of a word that is written with spaces, "" of a function word: one look-up for both."""
    return "" if form in FUNCTION_WORDS else content_stem(form)


def content_terms(forms: Sequence[str]) -> list[str]:
    """Return the content terms of a run of tokens: stems of words, and pairs of neighbours in spaceless scripts."""
    if all(map(str.isascii, forms)):
        return list(filter(None, map(content_term, forms)))
    terms: list[str] = []
    previous = ""
    for form in forms:
        if is_spaceless(form):
            if previous:
                terms.append(previous + form)
            previous = form
            continue
        previous = ""
        term = content_term(form)
        if term:
            terms.append(term)
    return terms
