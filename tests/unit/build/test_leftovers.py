"""What killed builds leave beside their target goes with the next build; what a living one holds never does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval import Sidecar, build_sidecar, verify_sidecar
from latence_retrieval.build import publish
from latence_retrieval.build.workspace import (
    OWNER_NAME,
    REPLACED_NAME,
    TEMPORARY_PREFIX,
    remove_leftovers,
    unfinished_builds,
    workspace,
)
from latence_retrieval.errors import BuildError

needs_locks = pytest.mark.skipif(sys.platform == "win32", reason="no flock here, so nothing is removed")

STALLED_BUILD = """
import sys, time
from latence_retrieval import build_sidecar
def chunks():
    yield {"id": "c", "text": "Orrin Works"}
    print("building", flush=True)
    time.sleep(120)
build_sidecar(sys.argv[1], chunks=chunks())
"""


@pytest.fixture
def stalled(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A build of `tmp_path / "kb"` in a process of its own, standing still."""
    command = [sys.executable, "-c", STALLED_BUILD, str(tmp_path / "kb")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "building\n"
        yield process
        process.kill()


def workspaces(area: Path) -> list[Path]:
    return sorted(path for path in area.iterdir() if path.name.startswith(TEMPORARY_PREFIX))


def left_behind(target: Path, **changes: Any) -> Path:
    """Return a workspace as a builder that is gone left it, with changes to its owner's record."""
    with workspace(target) as made:
        record = json.loads((made / OWNER_NAME).read_text())
    made.mkdir()
    (made / OWNER_NAME).write_text(json.dumps({**record, **changes}))
    (made / "snapshot").mkdir()
    (made / "snapshot" / "kv.sqlite").write_bytes(b"half of it")
    return made


def build(target: Path, **options: Any) -> None:
    build_sidecar(target, chunks=[{"id": "c", "text": "Orrin Works"}], **options)


@needs_locks
def test_what_a_killed_builder_left_goes_with_the_next_build(tmp_path: Path, stalled: subprocess.Popen[str]) -> None:
    assert unfinished_builds(tmp_path / "kb") == ()
    stalled.send_signal(signal.SIGKILL)
    stalled.wait()
    assert list(unfinished_builds(tmp_path / "kb")) == workspaces(tmp_path) != []
    build(tmp_path / "kb")
    assert [path.name for path in tmp_path.iterdir()] == ["kb"]


@needs_locks
def test_a_living_builders_workspace_is_never_touched(tmp_path: Path, stalled: subprocess.Popen[str]) -> None:
    before = workspaces(tmp_path)
    build(tmp_path / "kb")
    build(tmp_path / "kb", replace=True)
    assert workspaces(tmp_path) == before != []
    assert (before[0] / "snapshot" / "scratch").is_dir()
    assert stalled.poll() is None


@pytest.mark.parametrize("locks", ["of files", "of processes"])
def test_two_builds_of_one_target_in_one_process_do_not_remove_each_other(
    tmp_path: Path, locks: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if locks == "of processes":  # as NFS turns flock into them: a process is never refused its own
        fcntl = pytest.importorskip("fcntl")
        monkeypatch.setattr(fcntl, "flock", fcntl.lockf)
    target = tmp_path / "kb"
    at_work, go_on = threading.Event(), threading.Event()

    def slowly() -> Iterator[dict[str, str]]:
        yield {"id": "c", "text": "Velden Castings"}
        at_work.set()
        go_on.wait(60)

    thread = threading.Thread(target=build_sidecar, args=(target,), kwargs={"chunks": slowly(), "replace": True})
    thread.start()
    assert at_work.wait(60)
    build(target)
    go_on.set()
    thread.join()
    verify_sidecar(target)
    with Sidecar.open(target) as sidecar:
        assert sidecar.chunks([0])[0].text == "Velden Castings", "the slower build was the last to publish"
    assert [path.name for path in tmp_path.iterdir()] == ["kb"]


@needs_locks
def test_leftovers_make_room_before_the_build_begins(tmp_path: Path) -> None:
    gone = left_behind(tmp_path / "kb")
    with pytest.raises(RuntimeError, match="halfway"):
        build_sidecar(tmp_path / "kb", chunks=failing())
    assert not gone.exists()


@needs_locks
def test_only_leftovers_of_this_very_target_are_removed(tmp_path: Path) -> None:
    own, other = left_behind(tmp_path / "kb"), left_behind(tmp_path / "kb-2")
    foreign = tmp_path / f"{TEMPORARY_PREFIX}something"
    foreign.mkdir()
    build(tmp_path / "kb")
    assert not own.exists()
    assert other.exists()
    assert foreign.exists()


@needs_locks
def test_a_workspace_of_another_machine_is_left_alone_and_told(tmp_path: Path) -> None:
    elsewhere = left_behind(tmp_path / "kb", host="elsewhere", boot="another")
    build(tmp_path / "kb")
    assert elsewhere.exists()
    assert unfinished_builds(tmp_path / "kb") == (elsewhere,)


@needs_locks
@pytest.mark.parametrize("changes", [{"host": "another-container"}, {"boot": "before the restart"}, {"boot": None}])
def test_one_machine_is_known_by_its_name_or_by_its_boot(tmp_path: Path, changes: dict[str, Any]) -> None:
    if "host" in changes and not Path("/proc/sys/kernel/random/boot_id").exists():
        pytest.skip("this system has no boot id")
    gone = left_behind(tmp_path / "kb", **changes)
    build(tmp_path / "kb")
    assert not gone.exists()


@needs_locks
@pytest.mark.parametrize("has_owner", [True, False])
def test_a_workspace_without_a_record_is_removed_once_it_is_old(tmp_path: Path, has_owner: bool) -> None:
    gone = left_behind(tmp_path / "kb")
    (gone / OWNER_NAME).write_text("") if has_owner else (gone / OWNER_NAME).unlink()
    remove_leftovers(tmp_path / "kb")
    assert gone.exists()
    long_ago = time.time() - 2 * 3600
    os.utime(gone, (long_ago, long_ago))
    remove_leftovers(tmp_path / "kb")
    assert not gone.exists()


@needs_locks
def test_the_last_copy_of_a_snapshot_that_was_moved_aside_stays_until_the_next_is_published(tmp_path: Path) -> None:
    gone = left_behind(tmp_path / "kb")
    (gone / REPLACED_NAME).mkdir()
    with pytest.raises(RuntimeError, match="halfway"):
        build_sidecar(tmp_path / "kb", chunks=failing())
    assert (gone / REPLACED_NAME).is_dir()
    build(tmp_path / "kb")
    assert not gone.exists()


def failing() -> Iterator[dict[str, str]]:
    yield {"id": "c", "text": "Orrin Works"}
    raise RuntimeError("halfway")


@pytest.mark.parametrize("fails", [False, True])
def test_where_directories_cannot_be_exchanged_the_old_snapshot_is_moved_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails: bool
) -> None:
    target = tmp_path / "kb"
    build(target)
    old = verify_sidecar(target).snapshot_id
    monkeypatch.setattr(publish, "_exchanged", lambda left, right: False)
    rename = Path.rename

    def renamed(path: Path, to: Path) -> Path:
        if fails and path.name == "snapshot":
            raise OSError(13, "Permission denied")
        return rename(path, to)

    monkeypatch.setattr(Path, "rename", renamed)
    if fails:
        with pytest.raises(BuildError, match="old snapshot stays"):
            build(target, replace=True, tenant="acme")
        assert verify_sidecar(target).snapshot_id == old
    else:
        build(target, replace=True, tenant="acme")
        assert verify_sidecar(target).snapshot_id != old
    assert [path.name for path in tmp_path.iterdir()] == ["kb"]


def test_a_target_of_the_longest_possible_name_can_be_built(tmp_path: Path) -> None:
    build(tmp_path / ("k" * 255))
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("name", ["k" * 256, "null\0character"])
def test_a_target_that_cannot_have_that_name_is_a_typed_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(BuildError, match="another path"):
        build(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
