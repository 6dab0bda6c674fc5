"""`manifest.json`: what a snapshot holds, and the size and digest of each of its files."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from latence_retrieval.errors import (
    SidecarCorruptError,
    SidecarMismatchError,
    SidecarNotFoundError,
    SidecarVersionError,
)
from latence_retrieval.sidecar.files import unreadable
from latence_retrieval.text.normalise import NORMALISER_VERSION

__all__ = ["FORMAT_VERSION", "MANIFEST_NAME", "Counts", "FileEntry", "Manifest", "read_manifest"]

FORMAT_VERSION = 2
"""Raised when a reader of the old format could misread the new one."""

MANIFEST_NAME = "manifest.json"

_NO_SUCH_FIX = "build one with `latence-retrieval build`, or correct the path"


class FileEntry(BaseModel):
    """One file of the snapshot."""

    model_config = ConfigDict(frozen=True)

    size_bytes: int
    sha256: str


class Counts(BaseModel):
    """How much the snapshot holds."""

    model_config = ConfigDict(frozen=True)

    entities: int = 0
    catalogue_entities: int = 0
    forms: int = 0
    facts: int = 0
    hyperedges: int = 0
    chunks: int = 0
    relations: int = 0
    mentions: int = 0
    terms: int = 0


class Manifest(BaseModel):
    """Everything a reader must know before it opens another file.

    Attributes:
        snapshot_id: digest of the content; equal for two backends built from one input.
        embedding_model: name the builder was given for the model behind the vectors; None where unknown.
        dimension: length of every stored vector; None where there are none.
        longest_alias_tokens: bound for tier 1's n-grams.
        vectors: which of "entity", "chunk", "relation" have a file of vectors.
        indexed_length: total number of indexed terms, for the average length in BM25.
        largest_chunk_frequency: most chunks that any one entity occurs in.
    """

    model_config = ConfigDict(frozen=True)

    format: Literal["latence-sidecar"] = "latence-sidecar"
    format_version: int = FORMAT_VERSION
    normaliser_version: int = NORMALISER_VERSION
    snapshot_id: str
    tenant: str | None = None
    backend: str
    embedding_model: str | None = None
    dimension: int | None = None
    counts: Counts = Field(default_factory=Counts)
    longest_alias_tokens: int = 0
    entity_types: tuple[str, ...] = ()
    vectors: tuple[str, ...] = ()
    indexed_length: int = 0
    largest_chunk_frequency: int = 0
    files: dict[str, FileEntry] = Field(default_factory=dict)


def read_manifest(directory: Path) -> Manifest:
    """Read and check the manifest of the snapshot in `directory`.

    Raises:
        SidecarNotFoundError: no directory, or no manifest in it.
        SidecarCorruptError: not JSON, or not a manifest.
        SidecarVersionError: another format or normaliser version than this release reads.
    """
    path = directory / MANIFEST_NAME
    try:
        raw = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        problem = "there is no sidecar here" if directory.exists() else "no such directory"
        raise SidecarNotFoundError(directory, problem, fix=_NO_SUCH_FIX) from None
    except IsADirectoryError as error:
        raise SidecarCorruptError(path, "is a directory", fix="publish the sidecar again") from error
    except ValueError as error:
        raise SidecarNotFoundError(repr(str(directory)), f"is no path ({error})", fix=_NO_SUCH_FIX) from error
    except OSError as error:
        if error.errno in (errno.ENAMETOOLONG, errno.ELOOP):
            raise SidecarNotFoundError(directory, f"is no path ({error.strerror})", fix=_NO_SUCH_FIX) from error
        raise unreadable(path, error) from error
    try:
        return _checked(path, Manifest.model_validate_json(raw))
    except ValidationError as error:
        _refuse(path, raw, error)
        raise AssertionError("unreachable") from error  # pragma: no cover


def check_identity(directory: Path, manifest: Manifest, *, tenant: str | None, embedding_model: str | None) -> None:
    """Refuse a snapshot of another tenant or embedding model than the caller asked for.

    Raises:
        SidecarMismatchError: naming both values.
    """
    if tenant is not None and manifest.tenant != tenant:
        raise SidecarMismatchError(
            directory,
            f"belongs to tenant {manifest.tenant!r}, asked for {tenant!r}",
            fix="open the sidecar that was published for this tenant",
        )
    if embedding_model is not None and manifest.embedding_model not in (None, embedding_model):
        raise SidecarMismatchError(
            directory,
            f"was built with embedding model {manifest.embedding_model!r}, asked for {embedding_model!r}",
            fix="embed the query with the sidecar's model, or build the sidecar again",
        )


def _checked(path: Path, manifest: Manifest) -> Manifest:
    if manifest.format_version != FORMAT_VERSION:
        direction = "newer than" if manifest.format_version > FORMAT_VERSION else "older than"
        raise SidecarVersionError(
            path,
            f"format version {manifest.format_version} is {direction} {FORMAT_VERSION}, the one that this release reads",
            fix="upgrade latence-retrieval, or build the sidecar again with this release",
        )
    if manifest.normaliser_version != NORMALISER_VERSION:
        raise SidecarVersionError(
            path,
            f"names were normalised with version {manifest.normaliser_version}, this release has {NORMALISER_VERSION}",
            fix="build the sidecar again with this release",
        )
    return manifest


def _refuse(path: Path, raw: bytes, error: ValidationError) -> None:
    """Say why the bytes are no manifest; a newer format may have fields of other types."""
    fix = "publish the sidecar again, or correct the path"
    try:
        data = json.loads(raw)
    except ValueError:
        raise SidecarCorruptError(path, "is not JSON (truncated?)", fix=fix) from error
    if not isinstance(data, dict) or data.get("format") != "latence-sidecar":
        raise SidecarCorruptError(path, "is not a sidecar's manifest", fix=fix) from error
    version = data.get("format_version")
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise SidecarVersionError(
            path,
            f"format version {version} is newer than {FORMAT_VERSION}, the one that this release reads",
            fix="upgrade latence-retrieval",
        ) from error
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"])
    raise SidecarCorruptError(path, f"field {where}: {first['msg']}", fix=fix) from error
