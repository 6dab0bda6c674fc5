"""Snapshots that cannot be used are refused by name, before any result."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval import Sidecar, retrieve_evidence, verify_sidecar
from latence_retrieval.errors import (
    InvalidInputError,
    PluginError,
    SidecarCorruptError,
    SidecarError,
    SidecarMismatchError,
    SidecarNotFoundError,
    SidecarVersionError,
)
from tests.contract.asking import QUESTION

MANIFEST = "manifest.json"


def copied(sidecar: Path, target: Path) -> Path:
    shutil.copytree(sidecar, target)
    return target


def edited(sidecar: Path, target: Path, **changes: Any) -> Path:
    """Return a copy whose manifest says something else."""
    path = copied(sidecar, target)
    manifest = json.loads((path / MANIFEST).read_text())
    manifest.update(changes)
    (path / MANIFEST).write_text(json.dumps(manifest))
    return path


def opened(path: Path) -> None:
    """Both doors must refuse alike."""
    Sidecar.open(path).close()
    retrieve_evidence(QUESTION, sidecar=path)


def test_a_missing_snapshot_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(SidecarNotFoundError, match=str(path)):
            opened(path)
    (tmp_path / "file").write_text("hello")
    with pytest.raises(SidecarNotFoundError, match="file"):
        opened(tmp_path / "file")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"null", b'{"format": "other"}', b"\xff\xfe\x00", b'{"format": "latence-sidecar"}']
)
def test_a_foreign_or_truncated_manifest_is_refused(small: Path, tmp_path: Path, content: bytes) -> None:
    path = copied(small, tmp_path / "s")
    (path / MANIFEST).write_bytes(content)
    with pytest.raises(SidecarCorruptError, match=MANIFEST):
        opened(path)


@pytest.mark.parametrize(
    "changes",
    [
        {"format_version": 999},
        {"format_version": 0},
        {"normaliser_version": 999},
        {"format_version": 999, "counts": "new kind"},
    ],
)
def test_another_format_is_refused_with_the_fix(small: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(SidecarVersionError, match=r"upgrade|build the sidecar again"):
        opened(edited(small, tmp_path / "s", **changes))


@pytest.mark.parametrize("fixture", ["small", "small_vectors"])
def test_a_truncated_missing_or_grown_file_is_refused_before_it_is_read(
    request: pytest.FixtureRequest, tmp_path: Path, fixture: str
) -> None:
    original: Path = request.getfixturevalue(fixture)
    for file in sorted(original.iterdir()):
        if file.name == MANIFEST:
            continue
        for step, change in enumerate((_truncate, _grow, _empty, _remove)):
            path = copied(original, tmp_path / f"{file.name}-{step}")
            change(path / file.name)
            with pytest.raises(SidecarError, match=file.name):
                opened(path)


def _truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-16])


def _grow(file: Path) -> None:
    file.write_bytes(file.read_bytes() + bytes(16))


def _empty(file: Path) -> None:
    file.write_bytes(b"")


def _remove(file: Path) -> None:
    file.unlink()


def test_a_file_of_the_right_size_but_another_kind_is_refused(small: Path, tmp_path: Path) -> None:
    path = copied(small, tmp_path / "s")
    file = path / "kv.sqlite"
    file.write_bytes(b"x" * file.stat().st_size)
    with pytest.raises(SidecarCorruptError, match=r"kv.sqlite"):
        opened(path)


def test_an_unknown_backend_is_refused_with_its_name(small: Path, tmp_path: Path) -> None:
    with pytest.raises((SidecarError, PluginError), match="papyrus"):
        opened(edited(small, tmp_path / "s", backend="papyrus"))


def test_another_tenant_or_model_is_refused_whether_open_or_not(small_vectors: Path) -> None:
    with Sidecar.open(small_vectors) as kept:
        for sidecar in (small_vectors, kept):
            with pytest.raises(SidecarMismatchError, match=r"acme.*other"):
                retrieve_evidence(QUESTION, sidecar=sidecar, tenant="other")
            with pytest.raises(SidecarMismatchError, match=r"hashed-16.*other"):
                retrieve_evidence(QUESTION, sidecar=sidecar, embedding_model="other")
            assert (
                retrieve_evidence(QUESTION, sidecar=sidecar, tenant="acme", embedding_model="hashed-16").tenant
                == "acme"
            )


def test_a_snapshot_without_a_tenant_is_no_tenants(small: Path) -> None:
    with pytest.raises(SidecarMismatchError):
        retrieve_evidence(QUESTION, sidecar=small, tenant="acme")


def test_a_closed_snapshot_is_refused(small: Path) -> None:
    sidecar = Sidecar.open(small)
    sidecar.close()
    sidecar.close()
    for k in (0, 10):
        with pytest.raises(InvalidInputError, match="is closed; open it again"):
            retrieve_evidence(QUESTION, sidecar=sidecar, k=k)


def test_verification_finds_an_altered_byte_in_any_file(small_vectors: Path, tmp_path: Path) -> None:
    for file in sorted(small_vectors.iterdir()):
        if file.name == MANIFEST:
            continue
        path = copied(small_vectors, tmp_path / file.name)
        content = bytearray((path / file.name).read_bytes())
        content[len(content) // 2] ^= 1
        (path / file.name).write_bytes(content)
        with pytest.raises(SidecarCorruptError, match=file.name):
            verify_sidecar(path)


def test_verification_names_a_listed_file_that_is_gone(small: Path, tmp_path: Path) -> None:
    files = json.loads((small / MANIFEST).read_text())["files"]
    path = edited(small, tmp_path / "s", files={**files, "index.hnsw": {"size_bytes": 3, "sha256": "0" * 64}})
    with pytest.raises(SidecarError, match=r"index.hnsw"):
        verify_sidecar(path)
