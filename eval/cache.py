"""A cache on disk whose keys are digests of everything that its values depend on."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["Cache", "code_digest", "digest_of"]

_KEY_CHARS = 24
"""96 bits of a sha256: no collision among a few thousand entries."""


def digest_of(value: object) -> str:
    """Return a digest of any JSON value; the order of mapping keys does not matter."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_KEY_CHARS]


def code_digest(*paths: Path) -> str:
    """Return a digest of source files, or of all `.py` files under a folder."""
    digest = hashlib.sha256()
    for path in paths:
        files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
        for file in files:
            digest.update(file.name.encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:_KEY_CHARS]


class Cache:
    """Folders and gzipped JSON under one root; a value is written beside its place and renamed into it."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def folder(self, kind: str, key: Mapping[str, object]) -> Path:
        """Return the folder for this key, which need not exist yet; its parent does."""
        place = self.root / kind / digest_of(key)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def read(self, kind: str, key: Mapping[str, object]) -> Any | None:
        """Return the stored JSON value, or None where none is stored or it is damaged."""
        place = self.root / kind / f"{digest_of(key)}.json.gz"
        try:
            with gzip.open(place, "rt", encoding="utf-8") as text:
                return json.load(text)
        except (OSError, EOFError, ValueError):
            return None

    def write(self, kind: str, key: Mapping[str, object], value: object) -> None:
        """Store a JSON value."""
        place = self.root / kind / f"{digest_of(key)}.json.gz"
        place.parent.mkdir(parents=True, exist_ok=True)
        partial = place.with_suffix(f".{os.getpid()}.tmp")
        with gzip.open(partial, "wt", encoding="utf-8", compresslevel=5) as text:
            json.dump(value, text, ensure_ascii=False, separators=(",", ":"))
        partial.replace(place)
