"""The command line `latence-retrieval`: one module a verb, standard library only."""

from __future__ import annotations

from latence_retrieval.cli.program import main

__all__ = ["main"]
