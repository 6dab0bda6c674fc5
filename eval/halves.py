"""The two halves of every set: settings are chosen on one and confirmed on the other."""

from __future__ import annotations

import hashlib

__all__ = ["DEV", "TEST", "half_of"]

DEV = "dev"
TEST = "test"


def half_of(question_id: str) -> str:
    """Return the half of a question: `dev` where the first byte of its id's sha256 is even."""
    return DEV if hashlib.sha256(question_id.encode()).digest()[0] % 2 == 0 else TEST
