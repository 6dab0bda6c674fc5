"""Blocking keys of names: what a query must share with an entity before anyone compares strings.

A lexical look-up of entities scores only entities that share a key with the query, so the keys bound its recall.
Each key is a letter for its kind and a text; a published sidecar holds them in `Table.NAME_KEY`:

    =  the whole normal form; of a query, every run of up to eight tokens, so that a name inside a question is found
    p  the first five characters of the normal form
    s  the Soundex code of the whole normal form
    t  each token that is no function word: a surname alone, a reordered name
    e  the last five characters, of a short form the first three and the last three: one typo cannot break them all
    a  the initials of a name of two tokens or more; of a query, the query itself where it is one short token

`p` and `s` alone are what record-linkage systems usually block on (Christen 2012, "A survey of indexing techniques
for scalable record linkage and deduplication"); the others are measured in adr/0013.

Still not found by any key: a name with two typos, one in its head and one in its tail, that also sounds
different; a typo in a surname that stands alone inside a longer text; a translation that is no alias.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import pairwise

from latence_retrieval.records import Entity
from latence_retrieval.text.match import FUNCTION_WORDS
from latence_retrieval.text.phonetics import soundex
from latence_retrieval.text.tokenise import Token, is_spaceless, tokenise

__all__ = ["ALL_KINDS", "CLASSIC_KINDS", "KeyKind", "content_tokens", "name_keys", "query_keys", "surface_keys"]


class KeyKind(StrEnum):
    """The kinds of keys; the letter starts each key."""

    FORM = "="
    PREFIX = "p"
    SOUNDEX = "s"
    TOKEN = "t"  # noqa: S105 - a kind of key
    END = "e"
    ACRONYM = "a"


CLASSIC_KINDS = frozenset({KeyKind.PREFIX, KeyKind.SOUNDEX})
"""The kinds that bound recall to the same beginning or the same sound."""

ALL_KINDS = frozenset(KeyKind)
"""Every kind: the default."""

MAX_QUERY_TOKENS = 64
"""Tokens of a query that are looked at: keys and work stay bounded for a query of any length."""

_PREFIX_CHARACTERS = 5
_SHORT_CHARACTERS = 3
_LEAST_END = 4
_SHORT_UP_TO = 10  # forms of 9 and 10 characters have both end keys, so that a lost character is no matter
_LONG_FROM = 9
_LONGEST_RUN = 8
_LONGEST_ACRONYM = 8


def name_keys(entity: Entity) -> list[str]:
    """Return the keys of an entity's name and aliases, sorted, each once.

    A pure function of the entity and of the versions of normaliser and keys; the same on every machine.
    """
    keys: set[str] = set()
    for surface in (entity.name, *entity.aliases):
        keys.update(surface_keys(surface))
    return sorted(keys)


def surface_keys(surface: str) -> Iterator[str]:
    """Yield the keys of one name or alias; none where it has no letter or digit."""
    tokens = tokenise(surface)
    if not tokens:
        return
    form = " ".join(token.form for token in tokens)
    yield KeyKind.FORM + form
    yield from _string_keys(form, ALL_KINDS)
    for token in content_tokens(tokens):
        yield KeyKind.TOKEN + token
    initials = _initials(tokens)
    if initials:
        yield KeyKind.ACRONYM + initials


def query_keys(query: str, *, kinds: frozenset[KeyKind] = ALL_KINDS) -> list[str]:
    """Return the keys that a query looks up, sorted, each once; at most some 600.

    Args:
        query: a name, or a text with names in it.
        kinds: which kinds to use.
    """
    tokens = tokenise(query)[:MAX_QUERY_TOKENS]
    if not tokens:
        return []
    forms = [token.form for token in tokens]
    keys = set(_string_keys(" ".join(forms), kinds))
    if KeyKind.FORM in kinds:
        for start in range(len(forms)):
            for stop in range(start + 1, min(start + _LONGEST_RUN, len(forms)) + 1):
                run = forms[start:stop]
                if len(run) > 1 or run[0] not in FUNCTION_WORDS or len(forms) == 1:
                    keys.add(KeyKind.FORM + " ".join(run))
    if KeyKind.TOKEN in kinds:
        keys.update(KeyKind.TOKEN + token for token in content_tokens(tokens))
    if KeyKind.ACRONYM in kinds and len(forms) == 1 and 1 < len(forms[0]) <= _LONGEST_ACRONYM:
        keys.add(KeyKind.ACRONYM + forms[0])
    return sorted(keys)


def content_tokens(tokens: Sequence[Token]) -> list[str]:
    """Return the tokens that tell names apart: no function words unless there is nothing else.

    In scripts without spaces, every two neighbouring characters are a token here.
    """
    found = [token.form for token in tokens if not is_spaceless(token.form) and token.form not in FUNCTION_WORDS]
    for left, right in pairwise(tokens):
        if left.end == right.start and is_spaceless(left.form) and is_spaceless(right.form):
            found.append(left.form + right.form)
    return found or [token.form for token in tokens]


def _string_keys(form: str, kinds: frozenset[KeyKind]) -> Iterator[str]:
    """Yield the keys that look at the normal form as one string."""
    if KeyKind.PREFIX in kinds:
        yield KeyKind.PREFIX + form[:_PREFIX_CHARACTERS]
    if KeyKind.SOUNDEX in kinds:
        code = soundex(form)
        if code:
            yield KeyKind.SOUNDEX + code
    if KeyKind.END in kinds and len(form) >= _LEAST_END:
        if len(form) <= _SHORT_UP_TO:
            yield KeyKind.END + "<" + form[:_SHORT_CHARACTERS]
            yield KeyKind.END + form[-_SHORT_CHARACTERS:]
        if len(form) >= _LONG_FROM:
            yield KeyKind.END + form[-_PREFIX_CHARACTERS:]


def _initials(tokens: Sequence[Token]) -> str:
    """Return the initials of the tokens that are no function words, "" for fewer than two."""
    letters = [token.form[0] for token in tokens if token.form not in FUNCTION_WORDS]
    return "".join(letters) if 1 < len(letters) <= _LONGEST_ACRONYM else ""
