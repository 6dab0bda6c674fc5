"""Key-value tables of a published snapshot: what a store must do to carry a sidecar."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Protocol, runtime_checkable

__all__ = ["Key", "KeyValueBackend", "KeyValueReader", "KeyValueWriter", "Table"]

Key = int | bytes
"""Dense number (0 to 2**32 - 1) in numbered tables, 1 to 480 bytes in named ones."""


class Table(IntEnum):
    """The tables of a sidecar; the number is written to disk and never reused."""

    META = 1  # named: build facts that readers need (bytes)
    ALIAS = 2  # named: normalised form -> candidate entities
    ALIAS_HEAD = 3  # named: first token of a form, or first two -> longest form that starts so
    ENTITY = 4  # numbered: entity record
    INCIDENCE = 5  # named: entity number and block -> hyperedges, inlined
    CHUNK = 6  # numbered: chunk record
    CHUNK_LINKS = 7  # numbered: chunk -> its hyperedges and their members
    RELATION = 8  # numbered: label and description
    ENTITY_ID = 9  # named: entity id -> number
    CHUNK_ID = 10  # named: chunk id -> number
    TERM = 11  # named: term and block -> postings
    NAME_KEY = 12  # named: blocking key of a name -> entity numbers
    HYPEREDGE = 13  # numbered: a fact as the pipeline stated it
    TERM_SENTENCE = 14  # named: content term -> the sentences of each chunk that hold it

    @property
    def is_numbered(self) -> bool:
        """Whether keys of this table are dense numbers rather than bytes."""
        return int(self) in _NUMBERED


_NUMBERED = frozenset(
    int(table) for table in (Table.ENTITY, Table.CHUNK, Table.CHUNK_LINKS, Table.RELATION, Table.HYPEREDGE)
)


@runtime_checkable
class KeyValueReader(Protocol):
    """Read access to one immutable snapshot.

    Safe for concurrent use by threads; a forked or spawned worker opens its own. Values are `bytes`
    owned by the caller: they stay valid after `close`. A file that cannot be read any more, or whose pages
    are damaged, is a SidecarError that names it, never the engine's own error.
    """

    def get(self, table: Table, key: Key) -> bytes | None:
        """Return the value, or None where the key is absent. A key of the wrong kind is a TypeError."""
        ...

    def get_many(self, table: Table, keys: Sequence[Key]) -> list[bytes | None]:
        """Return one value or None per key, in the order asked; repeated keys are answered each time."""
        ...

    def scan(self, table: Table) -> Iterator[tuple[Key, bytes]]:
        """Yield the whole table in ascending key order (numeric, or bytewise)."""
        ...

    def close(self) -> None:
        """Release the handle. Closing twice is allowed; reading after it raises ValueError."""
        ...


class KeyValueWriter(Protocol):
    """Writes one snapshot's tables; used by one builder thread. A file that cannot be written is an OSError."""

    def put_many(self, table: Table, rows: Iterable[tuple[Key, bytes]]) -> int:
        """Store rows, streamed in ascending key order; return how many. A repeated key is a ValueError."""
        ...

    def close(self) -> None:
        """Flush to disk (fsync) and release. Without it the file is not valid."""
        ...


class KeyValueBackend(Protocol):
    """A format that a sidecar's tables can be stored in; registered as a plugin `kv.<name>`."""

    name: str
    """Written to the manifest: "sqlite", "lmdb"."""

    filename: str
    """The one file, relative to the snapshot's directory: "kv.sqlite", "kv.lmdb"."""

    def open(self, path: Path, *, size_bytes: int) -> KeyValueReader:
        """Open for reading after comparing the file's size with the manifest's.

        Raises:
            SidecarNotFoundError: the file is absent.
            SidecarCorruptError: another size than the manifest says, or not a file of this format.
        """
        ...

    def create(self, path: Path) -> KeyValueWriter:
        """Create the file, which must not exist."""
        ...
