"""Paths that lead to no sidecar, and files that the system does not give: typed errors that name them."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from latence_retrieval import Sidecar, build_sidecar, retrieve_evidence
from latence_retrieval.errors import SidecarCorruptError, SidecarError, SidecarNotFoundError
from latence_retrieval.sidecar.files import read_at

QUESTION = "Who leads the owner of the foundry that casts the AX-100?"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts open files as Linux does")
def test_without_a_file_handle_left_opening_is_a_typed_error(small_vectors: Path) -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    told: Counter[str] = Counter()
    for free in range(8):
        highest = max(int(name) for name in os.listdir("/proc/self/fd"))
        holders = [os.open(os.devnull, os.O_RDONLY) for _ in range(highest)]  # no gaps below the limit
        top = max(holders)
        for holder in holders[len(holders) - free :]:
            os.close(holder)
        resource.setrlimit(resource.RLIMIT_NOFILE, (top + 1, hard))
        try:
            Sidecar.open(small_vectors).close()
            told["opened"] += 1
        except SidecarError as error:
            told["refused" if str(small_vectors) in str(error) else "refused without the path"] += 1
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for holder in holders[: len(holders) - free]:
                os.close(holder)
    assert set(told) == {"opened", "refused"}


def test_a_file_that_went_away_between_two_looks_is_a_typed_error(tmp_path: Path) -> None:
    with pytest.raises(SidecarError, match="gone"):
        read_at(tmp_path / "gone", (0,), size_bytes=100)


@pytest.mark.parametrize("name", ["k" * 256, "null\0character", "k/" * 5000])
def test_a_path_that_cannot_be_one_is_a_typed_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(SidecarNotFoundError, match="is no path"):
        retrieve_evidence(QUESTION, sidecar=tmp_path / name)


def test_a_link_to_itself_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(SidecarNotFoundError):
        retrieve_evidence(QUESTION, sidecar=tmp_path / "loop")


def test_a_manifest_that_is_a_directory_is_a_typed_error(tmp_path: Path) -> None:
    build_sidecar(tmp_path / "s", chunks=[])
    (tmp_path / "s" / "manifest.json").unlink()
    (tmp_path / "s" / "manifest.json").mkdir()
    with pytest.raises(SidecarCorruptError, match="directory"):
        Sidecar.open(tmp_path / "s")
