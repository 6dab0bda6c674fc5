"""The GLiNER extra: query entities from a checkpoint of the first-generation `gliner` package.

Importing this package imports neither gliner nor torch; constructing `GlinerTier` does not either.
"""

from latence_retrieval_gliner.tier import GlinerTier

__all__ = ["GlinerTier"]
