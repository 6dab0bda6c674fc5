"""Publish a directory in one step: everything is flushed to disk first, then a rename makes it visible."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from latence_retrieval.build.workspace import REPLACED_NAME, remove_leftovers, workspace
from latence_retrieval.errors import BuildError
from latence_retrieval.sidecar.manifest import FileEntry

__all__ = ["file_entry", "staged_directory"]

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2  # linux/fs.h

_STORAGE_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)
_STORAGE_RESULTS = (10, 13)  # SQLITE_IOERR and SQLITE_FULL, the low byte of a result code (sqlite.org/rescode.html)


@contextmanager
def staged_directory(target: Path, *, replace: bool) -> Iterator[Path]:
    """Yield a directory to fill in a workspace beside `target`; publish it at the end, or remove it on an error.

    With `replace`, an existing directory is exchanged for the new one in one atomic step where the system can
    (Linux), and the old one is removed afterwards: files that readers have open stay readable. Elsewhere the old
    directory is moved aside first, and moved back should the second step fail.

    What killed builds of this target left is removed, as `workspace` promises.

    Raises:
        BuildError: the target exists and may not be replaced, its parent cannot be written, or the disk is full.
    """
    target = _checked_target(target, replace=replace)
    remove_leftovers(target)
    with _storage_errors(target), contextlib.ExitStack() as stack:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            room = stack.enter_context(workspace(target))
            staged = room / "snapshot"
            staged.mkdir()
        except OSError as error:
            raise BuildError(
                f"cannot write beside {target}: {error.strerror}; check the path, its permissions and the space left"
            ) from error
        yield staged
        staged.chmod(0o755)
        for path in sorted(staged.iterdir()):
            _flush(path)
        _flush(staged)
        _swap_in(staged, target, replace=replace)
        _flush(target.parent)
    remove_leftovers(target)


def _checked_target(target: Path, *, replace: bool) -> Path:
    """Return the path to publish to: through a link, which goes on pointing at what is published."""
    try:
        target = Path(os.path.realpath(target))
        if target.exists():
            if not replace:
                raise BuildError(f"{target} exists already; give another path, or ask for it to be replaced")
            if not target.is_dir():
                raise BuildError(f"{target} is not a directory; remove it or give another path")
            if any(target.iterdir()) and not (target / "manifest.json").is_file():
                raise BuildError(f"{target} is not empty and not a sidecar; it will not be replaced")
    except (OSError, ValueError) as error:  # a name that is too long, or holds a null character
        raise BuildError(f"cannot publish to {str(target)!r}: {error}; give another path") from error
    return target


@contextmanager
def _storage_errors(target: Path) -> Iterator[None]:
    """Turn what a full or failing disk raises, from any of the build's files, into BuildError."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if isinstance(error, OSError):
            is_storage, problem = error.errno in _STORAGE_ERRORS, error.strerror
        else:
            is_storage, problem = getattr(error, "sqlite_errorcode", 0) & 0xFF in _STORAGE_RESULTS, str(error)
        if not is_storage:
            raise
        raise BuildError(
            f"cannot write what is built for {target}: {problem}; nothing was published: "
            "make room on that disk, or give a target on another"
        ) from error


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
    aside = staged.with_name(REPLACED_NAME)  # removed with the workspace
    try:
        target.rename(aside)
    except OSError as error:
        raise BuildError(f"cannot replace {target}: {error.strerror}; nothing there was changed") from error
    try:
        staged.rename(target)
    except OSError as error:
        aside.rename(target)
        raise BuildError(f"cannot publish {target}: {error.strerror}; the old snapshot stays") from error


def _exchanged(left: Path, right: Path) -> bool:
    """Exchange two directories atomically; False where the system or the file system cannot."""
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None, use_errno=True)
        done = libc.renameat2(_AT_FDCWD, os.fsencode(left), _AT_FDCWD, os.fsencode(right), _RENAME_EXCHANGE)
        return bool(done == 0)
    return False
