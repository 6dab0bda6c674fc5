"""A build that is killed at any moment never leaves a directory that opens and is wrong."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from latence_retrieval import plugins
from latence_retrieval.build import build_sidecar
from latence_retrieval.build.workspace import OWNER_NAME, TEMPORARY_PREFIX
from latence_retrieval.errors import PluginError, SidecarNotFoundError
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.verification import verify_sidecar

KILLS = {"sqlite": 100, "lmdb": 30}
FACTS = 40

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked builds")


def build(target: Path, *, backend: str, edition: int) -> None:
    """Publish one of two editions that differ in every table."""
    names = [f"Quillon{edition} {word}" for word in ("Foundry", "Harbour", "Mill", "Depot", "Works")]
    build_sidecar(
        target,
        entities=[{"id": f"e{n}", "name": name} for n, name in enumerate(names)],
        chunks=[{"id": f"c{n}", "text": f"{name} ships to {names[n - 1]}. " * 5} for n, name in enumerate(names)],
        facts=[
            {"relation": f"ships{edition}", "members": [f"e{n % 5}", f"e{(n + 1 + n // 5) % 5}"], "chunk": f"c{n % 5}"}
            for n in range(FACTS)
            if (1 + n // 5) % 5
        ],
        chunk_vectors=[[float(edition), n + 1.0] for n in range(5)],
        backend=backend,
        replace=True,
    )


def killed(work: Callable[[], None], *, is_time: Callable[[float], bool]) -> bool:
    """Run `work` in a child and kill it when it is time; return whether it was killed before its end."""
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os._exit(0)
    begun = time.perf_counter()
    while not is_time(time.perf_counter() - begun):
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
        time.sleep(0.0002)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def after(wait_s: float) -> Callable[[float], bool]:
    """Return a clock that says when so many seconds have gone."""
    return lambda elapsed_s: elapsed_s > wait_s


def around_publication(area: Path, wait_s: float) -> Callable[[float], bool]:
    """Return a clock that says when so many seconds have gone since a new manifest was written anywhere in `area`."""
    known = set(area.iterdir())
    written: list[float] = []

    def is_time(elapsed_s: float) -> bool:
        if not written and any(
            (entry / "snapshot" / "manifest.json").exists() for entry in set(area.iterdir()) - known
        ):
            written.append(elapsed_s)
        return bool(written) and elapsed_s > written[0] + wait_s

    return is_time


def published(target: Path) -> str | None:
    """Return the id of the snapshot at `target`, sound in every row, or None where nothing is."""
    try:
        Sidecar.open(target).close()
    except SidecarNotFoundError:
        return None
    return verify_sidecar(target).snapshot_id


@pytest.mark.parametrize("backend", sorted(KILLS))
def test_a_killed_build_leaves_the_old_snapshot_or_the_new_one_or_none(tmp_path: Path, backend: str) -> None:
    if backend != "sqlite":
        try:
            plugins.load(f"kv.{backend}")
        except PluginError as error:
            pytest.skip(str(error))
    editions = []
    for edition in (0, 1):
        began = time.perf_counter()
        build(tmp_path / f"whole{edition}", backend=backend, edition=edition)
        seconds = time.perf_counter() - began
        editions.append(published(tmp_path / f"whole{edition}"))
    assert editions[0] != editions[1]
    area = tmp_path / "area"
    area.mkdir()
    target = area / "kb"
    draw = random.Random(11)
    kills = 0
    outcomes: set[str | None] = set()
    for attempt in range(KILLS[backend]):
        is_time = (
            around_publication(area, draw.uniform(0, seconds / 2)) if attempt % 2 else after(draw.uniform(0, seconds))
        )
        kills += killed(partial(build, target, backend=backend, edition=attempt % 4 // 2), is_time=is_time)
        found = published(target)
        assert found in editions or (found is None and outcomes <= {None}), "a snapshot that was there is gone"
        outcomes.add(found)
        assert all(entry == target or entry.name.startswith(TEMPORARY_PREFIX) for entry in area.iterdir())
    assert kills > KILLS[backend] // 3
    assert set(editions) <= outcomes
    build(target, backend=backend, edition=0)
    assert published(target) == editions[0]
    assert not [entry for entry in area.iterdir() if entry != target and _has_owner(entry)]


def _has_owner(entry: Path) -> bool:
    """Whether a builder got so far as to say who it is: what was killed before that stays for an hour."""
    owner = entry / OWNER_NAME
    return owner.exists() and owner.stat().st_size > 0
