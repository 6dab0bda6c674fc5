"""The forms under which an entity can be found: its names as given, and variants derived from them at build time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from latence_retrieval.sidecar.codec import AliasFlag
from latence_retrieval.text.match import FUNCTION_WORDS, Case, is_written_as_name, letter_cases
from latence_retrieval.text.normalise import narrow, strip_disambiguator
from latence_retrieval.text.tokenise import Token, tokenise

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

# As plain numbers, which join ten times as fast as flags.
_NAME, _VARIANT, _CASED, _DISCOVERED, _ACRONYM = (
    int(flag) for flag in (AliasFlag.NAME, AliasFlag.VARIANT, AliasFlag.CASED, AliasFlag.DISCOVERED, AliasFlag.ACRONYM)
)

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
    surfaces: Sequence[str], tokens: Sequence[Sequence[Token]], *, discovered: bool = False, is_title: bool = False
) -> list[Form]:
    """Return each distinct form of an entity once, the strongest reading first.

    A form is CASED where all its content words are capitalised. A title begins with a capital whatever it names
    ("Place of birth"), so that of a title is taken for CASED, and how the corpus writes the words decides.

    Given names come first; then variants: without a bracketed disambiguator, without a legal form, German and Nordic
    letters written out (`Mueller`), and the acronym of three or more capitalised words.

    Args:
        surfaces: the name, then the aliases, as written.
        tokens: of each of them.
        discovered: whether the builder found the entity; such a one has no variants.
        is_title: whether the name is a chunk's title.
    """
    forms: dict[str, Form] = {}
    extra = _DISCOVERED if discovered else _CASED if is_title else 0
    prior, flag = NAME_PRIOR, _NAME
    for surface, found in zip(surfaces, tokens, strict=True):
        _add_form(forms, surface, found, prior, flag | extra)
        prior, flag = ALIAS_PRIOR, 0
    if not discovered:
        for surface in surfaces:
            for variant, flag in _variants(surface):
                _add_form(forms, variant, tokenise(variant), VARIANT_PRIOR, _VARIANT | flag | extra)
    return list(forms.values())


def _add_form(forms: dict[str, Form], surface: str, tokens: Sequence[Token], prior: float, flags: int) -> None:
    words = [token.form for token in tokens]
    form = " ".join(words)
    if form and form not in forms:
        cases = letter_cases(surface, tokens)
        if Case.UPPER in cases and is_written_as_name(words, cases, 0, len(words)):
            flags |= _CASED
        forms[form] = Form(form, prior, flags, len(words))


def _variants(surface: str) -> Iterator[tuple[str, int]]:
    surface = narrow(surface)
    head = strip_disambiguator(surface)
    if head != surface:
        yield head, 0
    words = head.replace(",", " ").split()
    while len(words) > 1 and words[-1].replace(".", "").casefold() in _LEGAL_FORMS:
        words.pop()
    if len(words) < len(head.split()):
        yield " ".join(words), 0
    if _UMLAUT.search(head):
        yield head.translate(_UMLAUTS), 0
    if len(words) >= _ACRONYM_WORDS:
        initials = [word[0] for word in words if word.casefold() not in FUNCTION_WORDS]
        if len(initials) >= _ACRONYM_WORDS and all(map(str.isupper, initials)):
            yield "".join(initials), _ACRONYM
