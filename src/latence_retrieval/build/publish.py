"""Publish a directory in one step: everything is flushed to disk first, then a rename makes it visible."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from latence_retrieval.errors import BuildError
from latence_retrieval.sidecar.manifest import FileEntry

__all__ = ["TEMPORARY_PREFIX", "file_entry", "staged_directory"]

TEMPORARY_PREFIX = ".latence-building-"
"""Sibling directories of this name are builds in progress, or the remains of killed ones; safe to delete."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2  # linux/fs.h


@contextmanager
def staged_directory(target: Path, *, replace: bool) -> Iterator[Path]:
    """Yield a temporary sibling of `target` to fill; publish it at the end, or remove it on an error.

    With `replace`, an existing directory is exchanged for the new one in one atomic step where the system can
    (Linux), and the old one is removed afterwards: files that readers have open stay readable. Elsewhere the old
    directory is moved aside first, and moved back should the second step fail.

    Raises:
        BuildError: the target exists and may not be replaced, or its parent cannot be written.
    """
    target = Path(os.path.realpath(target))  # through a link, which goes on pointing at what is published
    if target.exists():
        if not replace:
            raise BuildError(f"{target} exists already; give another path, or ask for it to be replaced")
        if not target.is_dir():
            raise BuildError(f"{target} is not a directory; remove it or give another path")
        if any(target.iterdir()) and not (target / "manifest.json").is_file():
            raise BuildError(f"{target} is not empty and not a sidecar; it will not be replaced")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        staged = Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX, dir=target.parent))
    except OSError as error:
        raise BuildError(
            f"cannot write beside {target}: {error.strerror}; check the path and its permissions"
        ) from error
    try:
        yield staged
        staged.chmod(0o755)
        for path in sorted(staged.iterdir()):
            _flush(path)
        _flush(staged)
        _swap_in(staged, target, replace=replace)
        _flush(target.parent)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def file_entry(path: Path) -> FileEntry:
    """Return the size and SHA-256 of a file."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
    return FileEntry(size_bytes=path.stat().st_size, sha256=digest.hexdigest())


def _flush(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:  # some file systems refuse to flush a directory
        if error.errno not in (errno.EINVAL, errno.EBADF, errno.ENOTSUP):
            raise
    finally:
        os.close(handle)


def _swap_in(staged: Path, target: Path, *, replace: bool) -> None:
    if not replace or not target.exists():
        try:
            staged.rename(target)
        except OSError as error:  # somebody else published there in the meantime
            raise BuildError(f"cannot publish {target}: {error.strerror}; nothing there was changed") from error
        return
    if _exchanged(staged, target):
        return  # `staged` is the old snapshot now
    aside = staged.with_name(staged.name + ".old")
    target.rename(aside)
    try:
        staged.rename(target)
    except OSError:
        aside.rename(target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _exchanged(left: Path, right: Path) -> bool:
    """Exchange two directories atomically; False where the system or the file system cannot."""
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        done = libc.renameat2(_AT_FDCWD, os.fsencode(left), _AT_FDCWD, os.fsencode(right), _RENAME_EXCHANGE)
        return bool(done == 0)
    return False
