"""Checks of what every surface is called with: a question, counts, a tenant."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from uuid import UUID

from latence_retrieval.errors import BlankQueryError, InvalidInputError

__all__ = [
    "check_flag",
    "check_name",
    "check_tenant",
    "checked_count",
    "checked_path",
    "checked_query",
    "floats",
    "writable",
]

_NO_NUMBERS = frozenset({str, bytes, bool})
_LONE_SURROGATES = re.compile("[\ud800-\udfff]")


def checked_query(query: str) -> str:
    """Return the query.

    Raises:
        BlankQueryError: nothing but white space.
        InvalidInputError: no text.
    """
    if not isinstance(query, str):
        raise InvalidInputError("query", f"is a {type(query).__name__}", fix="pass the question as text")
    if not query.strip():
        raise BlankQueryError
    return query


def checked_count(name: str, value: int) -> int:
    """Return a count of at least 0.

    Raises:
        InvalidInputError: negative, or no integer; True and False are none.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInputError(name, f"is {value!r}", fix="give an integer of at least 0")
    if value < 0:
        raise InvalidInputError(name, f"is {value}", fix="give 0 or more")
    return value


def check_tenant(tenant: str | UUID) -> None:
    """Refuse what names no tenant.

    Raises:
        InvalidInputError: neither text nor UUID.
    """
    if not isinstance(tenant, (str, UUID)):
        raise InvalidInputError("tenant", f"is {tenant!r}", fix="give its name as text, or its UUID")


def check_name(argument: str, value: str | None) -> None:
    """Refuse what is to be written into a manifest and is no text that can be.

    Raises:
        InvalidInputError: neither None nor text, empty, or with lone surrogates.
    """
    if value is not None and (not isinstance(value, str) or not value or writable(value) != value):
        raise InvalidInputError(argument, f"is {value!r}", fix="give a name as text, or None")


def check_flag(argument: str, value: bool) -> None:
    """Refuse what is neither True nor False: "no" would count as yes.

    Raises:
        InvalidInputError: of another type.
    """
    if not isinstance(value, bool):
        raise InvalidInputError(argument, f"is {value!r}", fix="give True or False")


def checked_path(argument: str, value: str | os.PathLike[str]) -> Path:
    """Return a path as given.

    Raises:
        InvalidInputError: no path, or an empty text, which would mean the working directory.
    """
    if isinstance(value, Path):
        return value
    try:
        raw = os.fspath(value)
    except TypeError:
        raw = ""
    if not isinstance(raw, str) or not raw:
        raise InvalidInputError(argument, f"is {value!r}", fix="give the path of a directory")
    return Path(raw)


def floats(values: object) -> list[float]:
    """Return numbers as floats.

    Raises:
        TypeError: a text, mapping or set rather than a sequence, or texts or truth values in it, which `float` takes.
        ValueError, OverflowError: what `float` raises.
    """
    if isinstance(values, (str, bytes, bytearray, Mapping, AbstractSet)) or not isinstance(values, Iterable):
        raise TypeError(f"it is a {type(values).__name__}")
    given = list(values)
    if not _NO_NUMBERS.isdisjoint(map(type, given)):
        raise TypeError("it holds texts or truth values")
    return [float(value) for value in given]


def writable(text: str) -> str:
    """Return text that can be encoded: a lone surrogate becomes U+FFFD, so that offsets stay."""
    return text if text.isascii() else _LONE_SURROGATES.sub("\ufffd", text)
