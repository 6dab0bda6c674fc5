"""Tell a damaged snapshot from a mistake in the program, when something raises over its content.

Opening compares sizes, not digests: those cost a read of every byte. So altered bytes may decode into numbers that
lead nowhere and surface far from where they were read. Only then the digests are compared.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from latence_retrieval.errors import LatenceRetrievalError, SidecarCorruptError, SidecarError, SidecarNotFoundError
from latence_retrieval.sidecar.files import REBUILD, unreadable
from latence_retrieval.sidecar.manifest import Manifest, read_manifest
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.sidecar.rows import UNDECODABLE

__all__ = ["check_digests", "damage_told"]


def check_digests(directory: Path, manifest: Manifest) -> None:
    """Compare every file with the manifest.

    Raises:
        SidecarNotFoundError: a file is absent.
        SidecarCorruptError: a file holds other bytes; both name it.
    """
    for name, entry in manifest.files.items():
        try:
            with (directory / name).open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except FileNotFoundError:
            raise SidecarNotFoundError(directory / name, "is missing", fix=REBUILD) from None
        except OSError as error:
            raise unreadable(directory / name, error) from error
        if digest != entry.sha256:
            raise SidecarCorruptError(directory / name, "its content does not match the manifest's digest", fix=REBUILD)


@contextmanager
def damage_told(sidecar: Sidecar) -> Iterator[None]:
    """Turn what altered bytes may raise into SidecarCorruptError; where every digest is right, let it pass.

    Raises:
        SidecarCorruptError: a file of the snapshot was altered, and this is what came of it.
    """
    try:
        yield
    except UNDECODABLE as error:
        if not isinstance(error, LatenceRetrievalError) and not sidecar.is_closed and _is_still_there(sidecar):
            try:
                check_digests(sidecar.path, sidecar.manifest)
            except SidecarError as damage:
                raise damage from error
        raise


def _is_still_there(sidecar: Sidecar) -> bool:
    """Return whether the path leads to this very snapshot, not to one that replaced it."""
    try:
        return read_manifest(sidecar.path).snapshot_id == sidecar.manifest.snapshot_id
    except SidecarError:
        return False
