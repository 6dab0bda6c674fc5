"""What stands beside an index file: the facts that hnswlib neither stores nor checks."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from latence_retrieval.errors import SidecarCorruptError, SidecarNotFoundError, SidecarVersionError

__all__ = ["REBUILD", "Header", "check_index_file", "header_path", "read_header", "sha256_of"]

REBUILD = "build the index again with HnswEntityIndex.build"

_VERSION = 1
_LAYOUT = struct.Struct("<6Q")
"""How an index file begins (hnswalg.h, `saveIndex`, 0.8): offset of level 0, capacity, elements, bytes an element,
offset of its label, offset of its vector."""


class Header(BaseModel):
    """The JSON file `<index>.json`.

    Attributes:
        rows: rows of the vector file; an entity's number is its row.
        present: those with a vector, which the index holds.
        snapshot_id: of the snapshot whose entities these are, where it was given.
        m: links an element (hnswlib's `M`).
        ef_construction: candidates while building.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal["latence-hnsw"] = "latence-hnsw"
    version: int = _VERSION
    dimension: int = Field(gt=0)
    rows: int = Field(ge=0)
    present: int = Field(ge=0)
    space: Literal["ip"] = "ip"
    m: int
    ef_construction: int
    size_bytes: int
    sha256: str
    snapshot_id: str | None = None


def header_path(path: Path) -> Path:
    """Return where the header of an index stands."""
    return path.with_name(path.name + ".json")


def read_header(path: Path) -> Header:
    """Read the header of the index at `path`.

    Raises:
        SidecarNotFoundError: there is none.
        SidecarVersionError: it was written by a newer release.
        SidecarCorruptError: it cannot be read.
    """
    place = header_path(path)
    try:
        data = place.read_bytes()
    except FileNotFoundError:
        raise SidecarNotFoundError(place, "is absent", fix=REBUILD) from None
    try:
        header = Header.model_validate_json(data)
    except ValidationError as error:
        raise SidecarCorruptError(
            place, f"is no header of an index ({error.errors()[0]['msg']})", fix=REBUILD
        ) from error
    if header.version != _VERSION:
        raise SidecarVersionError(place, f"has version {header.version}, this release reads {_VERSION}", fix=REBUILD)
    return header


def check_index_file(path: Path, header: Header, *, verify: bool) -> None:
    """Compare an index file with its header before hnswlib, which checks nothing, loads it.

    Raises:
        SidecarNotFoundError: the file is absent.
        SidecarCorruptError: another size, layout or (with `verify`) content.
    """
    try:
        size_bytes = path.stat().st_size
        with path.open("rb") as file:
            layout = file.read(_LAYOUT.size)
    except FileNotFoundError:
        raise SidecarNotFoundError(path, "is absent", fix=REBUILD) from None
    if size_bytes != header.size_bytes or len(layout) < _LAYOUT.size:
        raise SidecarCorruptError(path, f"has {size_bytes} bytes, its header says {header.size_bytes}", fix=REBUILD)
    _, _, elements, _, label_offset, vector_offset = _LAYOUT.unpack(layout)
    if (label_offset - vector_offset, elements) != (4 * header.dimension, header.present):
        found = f"{elements} vectors of dimension {(label_offset - vector_offset) // 4}"
        expected = f"{header.present} of {header.dimension}"
        raise SidecarCorruptError(path, f"holds {found}, its header says {expected}", fix=REBUILD)
    if verify and sha256_of(path) != header.sha256:
        raise SidecarCorruptError(path, "was altered after it was built", fix=REBUILD)


def sha256_of(path: Path) -> str:
    """Return the file's digest."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
