"""The index of a published snapshot, used by `retrieve_evidence` where the question names nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from latence_retrieval.build import build_sidecar
from latence_retrieval.errors import SidecarMismatchError
from latence_retrieval.evidence import retrieve_evidence

np = pytest.importorskip("numpy")
pytest.importorskip("hnswlib")

from latence_retrieval_hnsw import HnswEntityIndex  # noqa: E402

COUNT, DIMENSION = 60, 8


def published(directory: Path, *, seed: int, with_vectors: bool = True) -> Path:
    vectors: Any = np.random.default_rng(seed).normal(size=(COUNT, DIMENSION))
    build_sidecar(
        directory,
        entities=[{"id": f"e{n}", "name": f"Zorvex{n:02}"} for n in range(COUNT)],
        chunks=[
            {"id": f"c{n}", "text": f"Zorvex{n:02} ships valves to Zorvex{(n + 1) % COUNT:02}.", "about": [f"e{n}"]}
            for n in range(COUNT)
        ],
        entity_vectors=vectors.tolist() if with_vectors else None,
    )
    return directory


def test_tier_0_enters_through_the_index_as_through_the_exact_scan(tmp_path: Path) -> None:
    sidecar = published(tmp_path / "kb", seed=1)
    index = HnswEntityIndex.build_for(sidecar)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["kb", "kb.hnsw", "kb.hnsw.json"]
    embedding = np.random.default_rng(9).normal(size=DIMENSION).tolist()
    results = [
        retrieve_evidence("where do pumps go", sidecar=sidecar, embedding=embedding, entity_index=given)
        for given in (None, index, HnswEntityIndex.open_for(sidecar))
    ]
    assert results[0].anchors
    assert results[0].model_dump_json() == results[1].model_dump_json() == results[2].model_dump_json()


def test_the_index_of_another_snapshot_is_refused(tmp_path: Path) -> None:
    HnswEntityIndex.build_for(published(tmp_path / "kb", seed=1))
    other = published(tmp_path / "other", seed=2)
    with pytest.raises(SidecarMismatchError, match="snapshot_id"):
        HnswEntityIndex.open_for(other, tmp_path / "kb.hnsw")


def test_a_snapshot_without_entity_vectors_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SidecarMismatchError, match="no entity vectors"):
        HnswEntityIndex.build_for(published(tmp_path / "kb", seed=1, with_vectors=False))
