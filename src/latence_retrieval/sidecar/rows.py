"""Rows that are JSON rather than packed numbers, and what decoding a damaged row of any kind may raise."""

from __future__ import annotations

import struct
from typing import NamedTuple

from pydantic_core import from_json

from latence_retrieval.sidecar.codec import MILLION

__all__ = ["UNDECODABLE", "StatedFact", "decode_fact", "decode_relation"]

UNDECODABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, struct.error)
"""What decoding an altered row may raise; records that pydantic refuses are ValueErrors."""


class StatedFact(NamedTuple):
    """A fact as the pipeline stated it, with numbers for its entities, its chunk and its relation."""

    id: str | None
    chunk: int
    relation: int
    confidence: float
    members: list[int]
    roles: list[str | None]


def decode_fact(value: bytes) -> StatedFact:
    """Read a row of `Table.HYPEREDGE`."""
    identifier, chunk, relation, confidence, members, roles = from_json(value)
    return StatedFact(identifier, chunk, relation, confidence / MILLION, members, roles)


def decode_relation(value: bytes) -> tuple[str, str | None]:
    """Read a row of `Table.RELATION`: label and description."""
    label, description = from_json(value)
    return label, description
