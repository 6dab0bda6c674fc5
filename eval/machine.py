"""Where and with what a figure was measured."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from eval.cache import code_digest
from eval.config import PROJECT_ROOT

__all__ = ["library_digest", "pin_threads", "provenance"]

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_PACKAGES = ("numpy", "igraph", "pydantic", "lmdb", "hnswlib", "gliner2", "torch", "sentence-transformers")


def pin_threads() -> None:
    """Ask numeric libraries for one thread each, unless the caller chose; call before numpy is imported."""
    for name in _THREADS:
        os.environ.setdefault(name, "1")


def library_digest() -> str:
    """Return a digest of the library's source: results are cached under it."""
    return code_digest(PROJECT_ROOT / "src", PROJECT_ROOT / "extras")


def provenance() -> dict[str, Any]:
    """Return commit, machine, versions and thread pins; figures without them cannot be compared."""
    return {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _git("rev-parse", "HEAD"),
        "dirty": bool(_git("status", "--porcelain", "--", "src", "extras", "eval")),
        "library_digest": library_digest(),
        "machine": {
            "processor": _processor(),
            "cores": os.cpu_count(),
            "system": platform.platform(terse=True),
            "python": sys.version.split()[0],
        },
        "packages": {name: _version(name) for name in _PACKAGES if _version(name)},
        "threads": {name: os.environ.get(name) for name in _THREADS},
    }


def _git(*arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=PROJECT_ROOT, capture_output=True, text=True, timeout=20, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8") as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
