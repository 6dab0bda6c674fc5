"""Results files: metrics in one small JSON, per-question rows beside it in a gzipped one."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

from eval.errors import HarnessError

__all__ = ["FORMAT", "details_path", "read_details", "read_results", "write_results"]

FORMAT = 1
"""Number of the results format; a reader refuses a newer one."""


def details_path(path: Path) -> Path:
    """Return where the per-question rows of a results file stand."""
    return path.with_name(f"{path.stem}.details.json.gz")


def write_results(path: Path, summary: dict[str, Any], details: dict[str, Any] | None = None) -> None:
    """Write a results file, and its details where given; each replaces its old one in one rename."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"format": FORMAT, **summary}, indent=1, ensure_ascii=False) + "\n"
    _replace(path, text.encode())
    if details is not None:
        packed = json.dumps({"format": FORMAT, **details}, ensure_ascii=False, separators=(",", ":")).encode()
        _replace(details_path(path), gzip.compress(packed, compresslevel=6, mtime=0))


def read_results(path: Path) -> dict[str, Any]:
    """Read a results file.

    Raises:
        HarnessError: it is missing, not one of ours, or of a newer format.
    """
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise HarnessError(f"{path}: no such results file; make it with `python -m eval run --out {path}`") from error
    except ValueError as error:
        raise HarnessError(f"{path}: is not JSON ({error})") from error
    if not isinstance(loaded, dict) or "metrics" not in loaded:
        raise HarnessError(f"{path}: is not a results file: it has no `metrics`")
    if int(loaded.get("format", 0)) > FORMAT:
        raise HarnessError(f"{path}: has format {loaded['format']}, this harness reads up to {FORMAT}")
    return loaded


def read_details(path: Path) -> dict[str, Any] | None:
    """Read the per-question rows of a results file, or None where they were not kept."""
    place = details_path(path)
    if not place.is_file():
        return None
    try:
        loaded: dict[str, Any] = json.loads(gzip.decompress(place.read_bytes()))
    except (OSError, EOFError, ValueError) as error:
        raise HarnessError(f"{place}: is damaged ({error}); run again to write it anew") from error
    return loaded


def _replace(path: Path, data: bytes) -> None:
    partial = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    partial.write_bytes(data)
    partial.replace(path)
