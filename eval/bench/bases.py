"""Build the synthetic sidecars, each once: a directory that is there and opens is used again."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eval.bench.synthetic import FACTS_PER_ENTITY, SyntheticBase
from eval.progress import say
from latence_retrieval.build import build_sidecar
from latence_retrieval.build.publish import file_entry
from latence_retrieval.errors import SidecarError
from latence_retrieval.ports.key_value import Table
from latence_retrieval.sidecar.backends import backend_named
from latence_retrieval.sidecar.manifest import MANIFEST_NAME
from latence_retrieval.sidecar.read import Sidecar

__all__ = ["prepared"]


def prepared(base: SyntheticBase, directory: Path, *, fresh: bool) -> dict[str, Any]:
    """Return the base's sidecars by backend, and what building cost.

    LMDB is built from the records; SQLite takes over its tables, which are the same rows.
    """
    paths = {backend: directory / f"{base.entity_count}.{backend}" for backend in ("lmdb", "sqlite")}
    notes = directory / f"{base.entity_count}.build.json"
    if fresh or not notes.exists() or not all(_opens(path) for path in paths.values()):
        notes.unlink(missing_ok=True)
        cost = _build(base, paths["lmdb"])
        _recode(paths["lmdb"], paths["sqlite"])
        notes.write_text(json.dumps(cost))
    return {"paths": paths, "build": json.loads(notes.read_text())}


def _build(base: SyntheticBase, path: Path) -> dict[str, Any]:
    say(f"building {path.name}: {base.entity_count} entities")
    spent = {"records": 0.0}
    stages: dict[str, float] = {}
    before = time.process_time()

    def note(stage: str, done: int, finished: bool) -> None:
        if finished:
            stages[stage] = round(time.process_time() - before, 1)
            say(f"  {stage}: {done} at {stages[stage]} s of processor time")

    started = time.perf_counter()
    build_sidecar(
        path,
        entities=_timed(base.entities(), spent),
        chunks=_timed(base.chunks(), spent),
        facts=_timed(base.facts(), spent),
        link=False,  # the facts name their entities; linking text is another feature
        backend="lmdb",
        replace=True,
        progress=note,
    )
    cpu_s = time.process_time() - before - spent["records"]
    facts = FACTS_PER_ENTITY * base.entity_count
    return {
        "facts": facts,
        "wall_s": round(time.perf_counter() - started, 1),
        "cpu_s": round(cpu_s, 1),
        "facts_per_cpu_s": round(facts / cpu_s),
        "stages_at_cpu_s": stages,
        "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "size_mib": round(sum(file.stat().st_size for file in path.iterdir()) / 2**20, 1),
    }


def _timed(records: Iterator[Any], spent: dict[str, float]) -> Iterator[Any]:
    """Pass records through, counting the time that inventing them takes: that is not the builder's."""
    while True:
        before = time.thread_time()
        record = next(records, None)
        spent["records"] += time.thread_time() - before
        if record is None:
            return
        yield record


def _recode(source: Path, target: Path) -> None:
    """Copy a sidecar's tables into a SQLite file, under the same snapshot."""
    backend = backend_named("sqlite")
    target.mkdir(parents=True, exist_ok=True)
    for entry in target.iterdir():
        entry.unlink()
    writer = backend.create(target / backend.filename)
    with Sidecar.open(source) as sidecar:
        for table in Table:
            writer.put_many(table, sidecar.reader.scan(table))
    writer.close()
    manifest = json.loads((source / MANIFEST_NAME).read_text())
    manifest["backend"] = backend.name
    del manifest["files"][backend_named("lmdb").filename]
    manifest["files"][backend.filename] = file_entry(target / backend.filename).model_dump()
    (target / MANIFEST_NAME).write_text(json.dumps(manifest))


def _opens(path: Path) -> bool:
    try:
        with _opened(path):
            return True
    except SidecarError:
        return False


@contextmanager
def _opened(path: Path) -> Iterator[Sidecar]:
    with Sidecar.open(path) as sidecar:
        sidecar.entities([0])
        yield sidecar
