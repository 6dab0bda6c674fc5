"""`LmdbBackend`: see `latence_retrieval.ports.key_value.KeyValueBackend` for what it must do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from latence_retrieval_lmdb.reader import LmdbReader
    from latence_retrieval_lmdb.writer import LmdbWriter

__all__ = ["LmdbBackend"]


class LmdbBackend:
    """The format "lmdb": one main database, keyed by the table's byte and the key (adr/0041)."""

    name = "lmdb"
    filename = "kv.lmdb"
    latence_plugin_protocol = 1
    latence_plugin_requires = ("lmdb",)
    latence_plugin_extra = "lmdb"

    def open(self, path: Path, *, size_bytes: int) -> LmdbReader:
        """Open for reading; see `KeyValueBackend.open`.

        Raises:
            MissingExtraError: the package `lmdb` is not installed.
        """
        from latence_retrieval_lmdb.reader import LmdbReader

        return LmdbReader(path, size_bytes=size_bytes)

    def create(self, path: Path) -> LmdbWriter:
        """Create the file, which must not exist.

        Raises:
            FileExistsError: something is there already.
            MissingExtraError: the package `lmdb` is not installed.
        """
        from latence_retrieval_lmdb.writer import LmdbWriter

        return LmdbWriter(path)
