"""The plugin `kv.lmdb`: a sidecar's tables in one LMDB file, the production format.

Importing this package or making the backend imports no `lmdb`; opening or creating a file does.
"""

from latence_retrieval_lmdb.backend import LmdbBackend

__all__ = ["LmdbBackend"]
