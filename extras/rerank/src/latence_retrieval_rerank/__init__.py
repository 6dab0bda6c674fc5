"""The rerank extra: a cross-encoder of sentence-transformers, from a checkpoint that the caller names.

Importing this package imports neither sentence-transformers nor torch; constructing the class does not either.
"""

from latence_retrieval_rerank.cross_encoder import CrossEncoderReranker

__all__ = ["CrossEncoderReranker"]
