"""The forms under which an entity can be found: its names as given, and variants derived from them at build time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from latence_retrieval.sidecar.codec import AliasFlag
from latence_retrieval.text.match import FUNCTION_WORDS, Case, is_written_as_name, letter_cases
from latence_retrieval.text.normalise import strip_disambiguator
from latence_retrieval.text.tokenise import tokenise

__all__ = ["Form", "forms_of"]


class Form(NamedTuple):
    """A normalised form, how much it says for its entity (relative), its flags, and its length in tokens."""

    form: str
    prior: float
    flags: int
    length: int


NAME_PRIOR = 1.0
ALIAS_PRIOR = 1.0
VARIANT_PRIOR = 0.2  # an undecorated title is the primary sense of its words; fitted (adr/0003)

# Endings that say in which legal form a company exists (ISO 20275 abbreviations in wide use).
_LEGAL_FORMS = frozenset(
    """inc incorporated corp corporation co company ltd limited llc llp lp plc gmbh ag kg kgaa ohg se sa sas sarl
    srl spa bv nv ab as asa oy oyj aps kk sro zrt kft doo sl pty pte""".split()
)
_UMLAUTS = str.maketrans(
    {"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "Å": "Aa", "Ø": "Oe"}
)
_UMLAUT = re.compile("[äöüåøÄÖÜÅØ]")
_ACRONYM_WORDS = 3


def forms_of(
    name: str, aliases: tuple[str, ...], *, discovered: bool = False, is_title: bool = False
) -> Iterator[Form]:
    """Yield each distinct form of an entity once, the strongest reading first.

    A form is CASED where all its content words are capitalised. A title begins with a capital whatever it names
    ("Place of birth"), so that of a title is taken for CASED, and how the corpus writes the words decides.

    Given names come first; then variants: without a bracketed disambiguator, without a legal form, German and Nordic letters written out (`Mueller`), and the acronym of three or more capitalised
    words.
    """
    seen: set[str] = set()
    extra = AliasFlag.DISCOVERED if discovered else AliasFlag.CASED if is_title else AliasFlag(0)
    given = [(name, NAME_PRIOR, AliasFlag.NAME), *((alias, ALIAS_PRIOR, AliasFlag(0)) for alias in aliases)]
    for surface, prior, flag in given:
        yield from _form(surface, prior, flag | extra, seen)
    if not discovered:
        for surface, _, _ in given:
            for variant, flag in _variants(surface):
                yield from _form(variant, VARIANT_PRIOR, AliasFlag.VARIANT | flag | extra, seen)


def _form(surface: str, prior: float, flags: AliasFlag, seen: set[str]) -> Iterator[Form]:
    tokens = tokenise(surface)
    words = [token.form for token in tokens]
    form = " ".join(words)
    if form and form not in seen:
        seen.add(form)
        cases = letter_cases(surface, tokens)
        if Case.UPPER in cases and is_written_as_name(words, cases, 0, len(words)):
            flags |= AliasFlag.CASED
        yield Form(form, prior, int(flags), len(words))


def _variants(surface: str) -> Iterator[tuple[str, AliasFlag]]:
    plain = AliasFlag(0)
    head = strip_disambiguator(surface)
    if head != surface:
        yield head, plain
    words = head.replace(",", " ").split()
    while len(words) > 1 and words[-1].replace(".", "").casefold() in _LEGAL_FORMS:
        words.pop()
    if len(words) < len(head.split()):
        yield " ".join(words), plain
    if _UMLAUT.search(head):
        yield head.translate(_UMLAUTS), plain
    initials = [word[0] for word in words if word.casefold() not in FUNCTION_WORDS]
    if len(initials) >= _ACRONYM_WORDS and all(letter.isupper() for letter in initials):
        yield "".join(initials), AliasFlag.ACRONYM
