"""Checks on a snapshot's file before any library maps or parses it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from latence_retrieval.errors import SidecarCorruptError, SidecarError, SidecarNotFoundError

__all__ = ["REBUILD", "absolute", "checked_stat", "corrupt", "read_at", "unreadable", "was_replaced"]

REBUILD = "publish the sidecar again, or copy it again from where it was built"
"""The remedy for every file that is not what the manifest says."""


def checked_stat(path: Path, *, size_bytes: int) -> os.stat_result:
    """Return the file's status after comparing its size with the manifest's.

    Args:
        path: the file.
        size_bytes: what the manifest says.

    Raises:
        SidecarNotFoundError: the file is absent.
        SidecarCorruptError: another size, or not a regular file.
    """
    try:
        status = path.stat()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SidecarNotFoundError(path, "is absent", fix=REBUILD) from error
    except OSError as error:
        raise unreadable(path, error) from error
    if status.st_mode & 0o170000 != 0o100000:
        raise corrupt(path, "is not a regular file")
    if status.st_size != size_bytes:
        kind = "is truncated" if status.st_size < size_bytes else "is longer than it was written"
        raise corrupt(path, f"{kind}: {status.st_size} bytes, the manifest says {size_bytes}")
    return status


def read_at(path: Path, offsets: Sequence[int], *, size_bytes: int) -> list[bytes]:
    """Return up to `size_bytes` bytes from each offset; fewer where the file ends.

    Raises:
        SidecarError: the system does not let it be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        try:
            found = []
            for offset in offsets:
                os.lseek(descriptor, offset, os.SEEK_SET)
                found.append(os.read(descriptor, size_bytes))
            return found
        finally:
            os.close(descriptor)
    except OSError as error:
        raise unreadable(path, error) from error


def absolute(path: Path) -> Path:
    """Return a path that still leads there after the working directory changed."""
    try:
        return path.absolute()
    except OSError:  # the working directory is gone
        return path


def corrupt(path: Path, problem: str) -> SidecarCorruptError:
    """Return the error for a file that is not what the manifest says."""
    return SidecarCorruptError(path, problem, fix=REBUILD)


def unreadable(path: Path, error: OSError) -> SidecarError:
    """Return the error for a file that is there and that the system does not let us read."""
    return SidecarError(
        path,
        f"cannot be read ({error.strerror or error})",
        fix="check its permissions, its disk, and how many files this process has open",
    )


def was_replaced(path: Path) -> SidecarNotFoundError:
    """Return the error for a forked worker whose parent had a file open that is no longer at its path."""
    return SidecarNotFoundError(
        path, "was replaced since the parent process opened it", fix="open the sidecar again in the worker"
    )
