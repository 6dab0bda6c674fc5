"""Checks of what every surface is called with: a question, counts, a tenant."""

from __future__ import annotations

import re
from uuid import UUID

from latence_retrieval.errors import BlankQueryError, InvalidInputError

__all__ = ["check_tenant", "checked_count", "checked_query", "writable"]

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


def writable(text: str) -> str:
    """Return text that can be encoded: a lone surrogate becomes U+FFFD, so that offsets stay."""
    return text if text.isascii() else _LONE_SURROGATES.sub("\ufffd", text)
