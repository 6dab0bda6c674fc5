"""Where a build is at work: a temporary sibling of its target that says who made it, and what killed builds left.

A build holds a lock (`flock`) on the file `owner` inside its workspace, which the kernel releases when the process
ends, however it ends. The file names the machine and its boot. A later build of the same target removes a workspace
exactly where both hold: its lock can be taken, and it was made on this machine (the same host name, or the same
boot: containers of one machine). What is promised follows from that:

- On a local file system no living builder's workspace is removed, and a dead one's is.
- On a network file system a workspace of another machine is left alone, dead or alive: locks may not reach across.
  Two machines of one name that share such a file system, with locks that stay local, must not build into one
  directory.
- Where the system has no `flock` (Windows), or the file system refuses it, nothing is removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

if sys.platform != "win32":
    import fcntl

__all__ = ["OWNER_NAME", "REPLACED_NAME", "TEMPORARY_PREFIX", "remove_leftovers", "unfinished_builds", "workspace"]

TEMPORARY_PREFIX = ".latence-building-"
"""How the name of every workspace begins; a digest of the target's name follows, and something random."""

OWNER_NAME = "owner"
REPLACED_NAME = "replaced"
"""The old snapshot, where it could not be exchanged for the new one in a single step."""

_NAMELESS_S = 3600.0  # a workspace without a readable owner is being made, or its builder died within the first moments
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")  # Linux, proc(5)

_own: set[Path] = set()
"""Of this process: where locks belong to processes (NFS), its own would seem free."""


class _State(Enum):
    LIVING = "living"
    DEAD = "dead"
    UNKNOWN = "unknown"


@contextmanager
def workspace(target: Path) -> Iterator[Path]:
    """Yield a new directory beside `target`, marked as this process's; remove it at the end.

    Raises:
        OSError: it cannot be made.
    """
    directory = Path(tempfile.mkdtemp(prefix=_prefix(target), dir=target.parent))
    _own.add(directory)
    try:
        with (directory / OWNER_NAME).open("x", encoding="utf-8") as file:
            if sys.platform != "win32":
                with contextlib.suppress(OSError):  # without locks; then nobody can take this one either
                    fcntl.flock(file, fcntl.LOCK_EX)
            json.dump({**_here(), "pid": os.getpid(), "target": target.name}, file)
            file.flush()
            yield directory
    finally:
        if not _is_last_copy(directory, target):
            shutil.rmtree(directory, ignore_errors=True)
        _own.discard(directory)


def unfinished_builds(target: Path) -> tuple[Path, ...]:
    """Return the workspaces of `target` that no living builder of this machine is known to hold, by name."""
    found = []
    for directory in _workspaces(Path(os.path.realpath(target))):
        with _examined(directory) as state:
            if state is not _State.LIVING:
                found.append(directory)
    return tuple(found)


def remove_leftovers(target: Path) -> None:
    """Remove the workspaces of `target` whose builders are dead; never fails.

    An old snapshot that a killed build had moved aside stays until something is at `target` again.
    """
    for directory in _workspaces(target):
        with _examined(directory) as state:
            if state is _State.DEAD and not _is_last_copy(directory, target):
                shutil.rmtree(directory, ignore_errors=True)


def _is_last_copy(directory: Path, target: Path) -> bool:
    """Return whether the old snapshot was moved into the workspace and nothing took its place."""
    return (directory / REPLACED_NAME).exists() and not target.exists()


def _prefix(target: Path) -> str:
    digest = hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]  # a name of 255 bytes leaves no room for itself
    return f"{TEMPORARY_PREFIX}{digest}-"


def _workspaces(target: Path) -> list[Path]:
    prefix = _prefix(target)
    try:
        return sorted(path for path in target.parent.iterdir() if path.name.startswith(prefix))
    except OSError:
        return []


def _here() -> dict[str, str | None]:
    boot: str | None = None
    with contextlib.suppress(OSError):
        boot = _BOOT_ID.read_text(encoding="ascii").strip()
    return {"host": platform.node(), "boot": boot}


@contextmanager
def _examined(directory: Path) -> Iterator[_State]:
    """Say what became of a workspace's builder; its lock is held meanwhile, so that two do not remove it at once."""
    if directory in _own:
        yield _State.LIVING
        return
    try:
        owner = os.open(directory / OWNER_NAME, os.O_RDWR | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        yield _nameless(directory)
        return
    except OSError:
        yield _State.UNKNOWN
        return
    try:
        yield _owner_state(owner, directory)
    finally:
        os.close(owner)


def _owner_state(owner: int, directory: Path) -> _State:
    if sys.platform == "win32":
        return _State.UNKNOWN
    try:
        fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _State.LIVING
    except OSError:
        return _State.UNKNOWN
    try:
        record = json.loads(os.read(owner, 1 << 16))
        host, boot = record["host"], record["boot"]
    except (OSError, ValueError, TypeError, KeyError):
        return _nameless(directory)
    here = _here()
    is_here = host == here["host"] or (boot is not None and boot == here["boot"])
    return _State.DEAD if is_here else _State.UNKNOWN


def _nameless(directory: Path) -> _State:
    try:
        age_s = time.time() - directory.stat().st_mtime
    except OSError:
        return _State.UNKNOWN
    return _State.DEAD if age_s > _NAMELESS_S else _State.UNKNOWN
