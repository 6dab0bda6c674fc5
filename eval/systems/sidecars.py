"""Sidecars of the sets, built once per content and kept in the cache."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from eval.cache import code_digest
from eval.config import PROJECT_ROOT
from eval.graph.linkers import linked_inputs
from eval.progress import say
from eval.systems.base import Bench

__all__ = ["building_digest", "built_sidecar", "sidecar_inputs"]

_BUILDING = ("build", "sidecar", "text", "lexical", "records.py", "vectors.py", "npy.py")
"""Source of the library that a sidecar's bytes depend on."""


def building_digest() -> list[str]:
    """Return digests of the library's source that sidecars, and graphs read out of them, depend on."""
    source = PROJECT_ROOT / "src" / "latence_retrieval"
    return [code_digest(source / part) for part in _BUILDING if (source / part).exists()]


def preferred_backend() -> str:
    """Return the production format where its plugin is ready, else the base install's."""
    from latence_retrieval.errors import PluginError
    from latence_retrieval.sidecar.backends import backend_named

    try:
        return backend_named("lmdb").name
    except PluginError:
        return "sqlite"


def sidecar_inputs(bench: Bench) -> dict[str, Any]:
    """Return the builder's arguments: what the bench's linker gives, and the set's vectors."""
    data = bench.data
    arguments = linked_inputs(data, bench.linker)
    if data.vectors is not None:
        arguments["chunk_vectors"] = (row.tolist() for row in data.vectors.chunks)
        if data.vectors.entities is not None:
            arguments["title_vectors"] = (row.tolist() for row in data.vectors.entities)
    return arguments


def built_sidecar(bench: Bench) -> tuple[Path, Mapping[str, float]]:
    """Return the sidecar's folder and figures of its build; it is built where the cache has none."""
    from latence_retrieval.build import build_sidecar

    backend = preferred_backend()
    kept = {name: digest for name, digest in bench.data.checksums.items() if "quer" not in name}
    key: dict[str, object] = {
        "content": kept,
        "backend": backend,
        "linker": bench.linker,
        "code": building_digest(),
        "inputs": code_digest(Path(__file__), PROJECT_ROOT / "eval" / "graph" / "linkers.py"),
    }
    place = bench.cache.folder("sidecars", key)
    if not (place / "manifest.json").is_file():
        say(f"{bench.data.name}: building the sidecar")
        start = perf_counter()
        build_sidecar(place, backend=backend, replace=True, **sidecar_inputs(bench))
        bench.cache.write("sidecar-builds", key, {"build_s": perf_counter() - start})
    figures: dict[str, float] = dict(bench.cache.read("sidecar-builds", key) or {})
    figures["lmdb"] = float(backend == "lmdb")
    figures["sidecar_mb"] = sum(file.stat().st_size for file in place.iterdir() if file.is_file()) / 1e6
    return place, figures
