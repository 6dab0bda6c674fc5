"""Blocking keys of names: what a query must share with an entity before anyone compares strings.

A lexical look-up of entities scores only entities that share a key with the query, so the keys bound its recall.
Each key is a letter for its kind and a text; a published sidecar holds them in `Table.NAME_KEY`:

    =  the whole normal form; of a query, every run of up to eight tokens, so that a name inside a question is found
    p  the first five characters of the normal form
    s  the Soundex code of the whole normal form
    t  each token that is no function word: a surname alone, a reordered name
    e  the first and the last characters of each such token, three or, of a long one, four: a typo cannot break both;
       of a query of up to five tokens only, and without those that more than a thousand entities bear
    a  the initials of a name of three tokens or more; of a query, the query itself where it is one short token

`p` and `s` alone are what record-linkage systems usually block on (Christen 2012, "A survey of indexing techniques
for scalable record linkage and deduplication"); the others are measured in adr/0013.

What a key weighs falls with its bearers, and whole forms and tokens weigh double (`key_weight`).

Still not found by any key: a short name with a typo that also sounds different and begins differently; a misspelt
name inside a longer text; a name with two typos in each of its words; a translation that is no alias.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum
from itertools import pairwise

from latence_retrieval.records import Entity
from latence_retrieval.text.match import FUNCTION_WORDS
from latence_retrieval.text.phonetics import soundex
from latence_retrieval.text.tokenise import Token, is_spaceless, tokenise

__all__ = [
    "ALL_KINDS",
    "CLASSIC_KINDS",
    "KeyKind",
    "content_tokens",
    "initials_of",
    "key_weight",
    "keys_of",
    "name_keys",
    "query_keys",
    "surface_keys",
]


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

_FORM, _PREFIX, _SOUNDEX, _TOKEN, _END, _ACRONYM = [kind.value for kind in KeyKind]  # plain texts join faster
_TELLING = (_FORM, _TOKEN)

MAX_QUERY_TOKENS = 64
"""Tokens of a query that are looked at: keys and work stay bounded for a query of any length."""

_PREFIX_CHARACTERS = 5
_LEAST_END = 4
_SHORT_UP_TO = 8  # a token of eight characters has ends of both lengths, so that a lost or added one is no matter
_LONG_FROM = 8
_MOST_END_TOKENS = 5
_MOST_END_BEARERS = 1000
_LEAST_ACRONYM = 3
_LONGEST_RUN = 8
_LONGEST_ACRONYM = 8


def name_keys(entity: Entity) -> list[str]:
    """Return the keys of an entity's name and aliases, sorted, each once.

    A pure function of the entity and of the versions of normaliser and keys; the same on every machine.
    """
    return sorted(keys_of([tokenise(surface) for surface in (entity.name, *entity.aliases)]))


def keys_of(surfaces: Iterable[Sequence[Token]]) -> set[str]:
    """Return the keys of names that are tokenised already; a name without a letter or digit has none."""
    keys: set[str] = set()
    for tokens in surfaces:
        if not tokens:
            continue
        form = " ".join([token.form for token in tokens])
        keys.update((_FORM + form, _prefix_key(form), *_soundex_keys(form)))
        for word in content_tokens(tokens):
            keys.add(_TOKEN + word)
            keys.update(_end_keys(word))
        initials = initials_of(tokens)
        if initials:
            keys.add(_ACRONYM + initials)
    return keys


def surface_keys(surface: str) -> set[str]:
    """Return the keys of one name or alias; none where it has no letter or digit."""
    return keys_of([tokenise(surface)])


def key_weight(key: str, bearers: int, total: int) -> float:
    """Return how much a shared key says: ln(1 + total / bearers), doubled for whole forms and tokens.

    0.0 for the ends of words that more than a thousand entities bear: such a list is not worth its reading.

    Args:
        key: with its kind.
        bearers: how many entities have it, at least 1.
        total: how many entities there are.
    """
    weight = math.log1p(total / bearers)
    if key[0] in _TELLING:
        return 2.0 * weight
    return 0.0 if key[0] == KeyKind.END and bearers > _MOST_END_BEARERS else weight


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
    form = " ".join(forms)
    keys = {_prefix_key(form)} if KeyKind.PREFIX in kinds else set()
    if KeyKind.SOUNDEX in kinds:
        keys.update(_soundex_keys(form))
    if KeyKind.FORM in kinds:
        for start in range(len(forms)):
            for stop in range(start + 1, min(start + _LONGEST_RUN, len(forms)) + 1):
                run = forms[start:stop]
                if len(run) > 1 or run[0] not in FUNCTION_WORDS or len(forms) == 1:
                    keys.add(KeyKind.FORM + " ".join(run))
    words = content_tokens(tokens)
    if KeyKind.TOKEN in kinds:
        keys.update(KeyKind.TOKEN + word for word in words)
    if KeyKind.END in kinds and len(words) <= _MOST_END_TOKENS:
        keys.update(key for word in words for key in _end_keys(word))
    if KeyKind.ACRONYM in kinds and len(forms) == 1 and _LEAST_ACRONYM <= len(forms[0]) <= _LONGEST_ACRONYM:
        keys.add(KeyKind.ACRONYM + forms[0])
    return sorted(keys)


def content_tokens(tokens: Sequence[Token]) -> list[str]:
    """Return the tokens that tell names apart: no function words unless there is nothing else.

    In scripts without spaces, every two neighbouring characters are a token here.
    """
    forms = [token.form for token in tokens]
    if all(map(str.isascii, forms)):
        return [form for form in forms if form not in FUNCTION_WORDS] or forms
    found = [form for form in forms if not is_spaceless(form) and form not in FUNCTION_WORDS]
    for left, right in pairwise(tokens):
        if left.end == right.start and is_spaceless(left.form) and is_spaceless(right.form):
            found.append(left.form + right.form)
    return found or forms


def _prefix_key(form: str) -> str:
    return _PREFIX + form[:_PREFIX_CHARACTERS]


def _soundex_keys(form: str) -> list[str]:
    """Return the key of the normal form's sound; none where it has no Latin letter."""
    code = soundex(form)
    return [_SOUNDEX + code] if code else []


def _end_keys(token: str) -> list[str]:
    """Return the keys of a token's beginning and end."""
    size = len(token)
    keys = [f"{_END}<{token[:3]}", f"{_END}>{token[-3:]}"] if _LEAST_END <= size <= _SHORT_UP_TO else []
    if size >= _LONG_FROM:
        keys += (f"{_END}<{token[:4]}", f"{_END}>{token[-4:]}")
    return keys


def initials_of(tokens: Sequence[Token]) -> str:
    """Return the initials of the tokens that are no function words, "" for fewer than three or more than eight."""
    if len(tokens) < _LEAST_ACRONYM:
        return ""
    letters = [token.form[0] for token in tokens if token.form not in FUNCTION_WORDS]
    return "".join(letters) if _LEAST_ACRONYM <= len(letters) <= _LONGEST_ACRONYM else ""
