"""One environment a file and process, shared by all readers and closed with the last of them.

`lmdb` refuses a second open of the same file in one process, whatever path leads to it, so handles are told
apart as it does, by device and inode (adr/0041). The lock is the fork gate's: a fork waits until no
environment is being opened or closed.
"""

from __future__ import annotations

import os
from pathlib import Path

from latence_retrieval.errors import SidecarError
from latence_retrieval.sidecar.files import REBUILD, checked_stat, corrupt
from latence_retrieval.sidecar.forking import GATE
from latence_retrieval_lmdb.engine import check_meta_pages, lmdb

__all__ = ["Handle", "acquire", "open_count", "release"]

_OPEN_ATTEMPTS = 3  # a publisher may replace the file between our check and the engine's open


class Handle:
    """An open environment and how many readers use it."""

    __slots__ = ("environment", "identity", "readers")

    def __init__(self, environment: lmdb.Environment, identity: tuple[int, int]) -> None:
        """Start with no reader."""
        self.environment = environment
        self.identity = identity
        self.readers = 0


_handles: dict[tuple[int, int], Handle] = {}


def acquire(path: Path, *, size_bytes: int) -> Handle:
    """Return the file's handle, opened if no reader has it open, and count one reader more.

    Raises:
        SidecarNotFoundError: the file is absent.
        SidecarCorruptError: another size than the manifest says, or not a file of this format.
        SidecarError: other code in this process holds the file open with `lmdb`.
    """
    with GATE.lock:
        for _ in range(_OPEN_ATTEMPTS):
            status = checked_stat(path, size_bytes=size_bytes)
            identity = (status.st_dev, status.st_ino)
            handle = _handles.get(identity)
            if handle is None:
                check_meta_pages(path, size_bytes=size_bytes)
                environment = _opened(path, size_bytes)
                if not _is_still(path, identity):
                    environment.close()
                    continue
                handle = _handles[identity] = Handle(environment, identity)
            handle.readers += 1
            return handle
    raise SidecarError(path, "keeps changing while it is opened", fix="publish whole directories by rename")


def release(handle: Handle) -> None:
    """Count one reader less; the last one closes the environment."""
    with GATE.lock:
        handle.readers -= 1
        if handle.readers == 0:
            del _handles[handle.identity]
            handle.environment.close()


def open_count() -> int:
    """Return how many environments this process holds open."""
    return len(_handles)


def _opened(path: Path, size_bytes: int) -> lmdb.Environment:
    try:
        return lmdb.open(
            os.fspath(path),
            subdir=False,
            readonly=True,
            lock=False,  # an immutable file has no writer; a read-only directory has no room for a lock file
            readahead=False,
            create=False,
            map_size=size_bytes,
            max_dbs=0,
            max_spare_txns=0,
        )
    except (lmdb.InvalidError, lmdb.VersionMismatchError, lmdb.CorruptedError) as error:
        raise corrupt(path, f"is refused by the LMDB engine ({error})") from error
    except lmdb.Error as error:
        raise SidecarError(
            path,
            f"cannot be opened ({error})",
            fix=f"close what else has it open, or {REBUILD}",
        ) from error


def _is_still(path: Path, identity: tuple[int, int]) -> bool:
    try:
        status = path.stat()
    except OSError:
        return False
    return (status.st_dev, status.st_ino) == identity
