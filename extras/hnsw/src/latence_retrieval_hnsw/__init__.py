"""The plugin `index.hnsw`: approximate search over entity vectors with hnswlib.

Importing this package imports neither numpy nor hnswlib; building or opening an index does.
"""

from latence_retrieval_hnsw.index import HnswEntityIndex

__all__ = ["HnswEntityIndex"]
