"""The GLiNER2 extra: query entities and relation types from one checkpoint that the caller names.

Importing this package imports neither gliner2 nor torch; constructing its classes does not either.
"""

from latence_retrieval_gliner2.signal import Gliner2RelationSignal
from latence_retrieval_gliner2.tier import Gliner2Tier

__all__ = ["Gliner2RelationSignal", "Gliner2Tier"]
