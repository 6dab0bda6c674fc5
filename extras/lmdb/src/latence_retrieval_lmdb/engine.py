"""The one place that imports `lmdb`, and what a file must look like before its engine maps it."""

from __future__ import annotations

import struct
from pathlib import Path

from latence_retrieval.errors import needs_extra
from latence_retrieval.sidecar.files import corrupt, read_at

with needs_extra("lmdb", package="lmdb", purpose="a sidecar in the LMDB format"):
    import lmdb

__all__ = ["check_meta_pages", "lmdb"]

_META = struct.Struct("<IIQQ 48s 48s QQ")
"""MDB_meta of data format 1 (mdb.c): magic, version, address, map size, two databases, last page, txn."""

_PAGE_HEADER_BYTES = 16
_PAGE_BYTES = 4096  # the usual one, read in the same breath as the first page
_LONGEST_PAGE_HEADER_BYTES = 24  # data format 3
_MAGIC_BYTES = (0xBEEFC0DE).to_bytes(4, "little")
_DATA_FORMAT = 1


def check_meta_pages(path: Path, *, size_bytes: int) -> None:
    """Refuse a file that is not LMDB of data format 1, or whose pages reach past its end.

    The engine maps a file as its meta pages describe it, and reads past the end kill the process (SIGBUS).

    Raises:
        SidecarCorruptError: says which of these it is.
    """
    first, second = read_at(path, (0, _PAGE_BYTES), size_bytes=_PAGE_HEADER_BYTES + _META.size)
    page_bytes = _check_meta(path, first, size_bytes)
    if page_bytes != _PAGE_BYTES:  # the page size of the machine that wrote it
        second = read_at(path, (page_bytes,), size_bytes=len(second))[0]
    _check_meta(path, second, size_bytes)


def _check_meta(path: Path, page: bytes, size_bytes: int) -> int:
    """Check one meta page; return the page size that it names."""
    if len(page) < _PAGE_HEADER_BYTES + _META.size:
        raise corrupt(path, "is not an LMDB file")
    at = page.find(_MAGIC_BYTES, 0, _LONGEST_PAGE_HEADER_BYTES + 4)
    if at < 0:
        raise corrupt(path, "is not an LMDB file")
    version = int.from_bytes(page[at + 4 : at + 8], "little")
    if version != _DATA_FORMAT or at != _PAGE_HEADER_BYTES:
        raise corrupt(path, f"is LMDB of data format {version}, sidecars have format {_DATA_FORMAT}")
    _, _, _, _, free_database, _, last_page, _ = _META.unpack_from(page, at)
    page_bytes = int.from_bytes(free_database[:4], "little")
    if page_bytes < 256 or page_bytes > 65536 or page_bytes & (page_bytes - 1):
        raise corrupt(path, f"has pages of {page_bytes} bytes")
    if (last_page + 1) * page_bytes > size_bytes:
        raise corrupt(path, f"has {size_bytes} bytes, its last page ends at {(last_page + 1) * page_bytes}")
    return page_bytes
