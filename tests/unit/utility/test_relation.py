"""The relation signal without a model, over a real snapshot."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval import retrieve_evidence
from latence_retrieval.build.build import build_sidecar
from latence_retrieval.ports.relation_signal import RelationSignal
from latence_retrieval.settings import Settings
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.utility.relation import (
    COSINE_CEILING,
    COSINE_FLOOR,
    EmbeddingRelationSignal,
    open_question,
    relation_score,
)

CHUNKS = [{"id": "c1", "text": "Ann wed Bob in Rome.", "title": "Ann"}, {"id": "c2", "text": "Bob.", "title": "Bob"}]
ENTITIES = [{"id": "ann", "name": "Ann"}, {"id": "bob", "name": "Bob"}]
FACTS = [
    {"relation": "spouse", "members": ["ann", "bob"], "chunk": "c1"},
    {"relation": "unvectored", "members": ["ann", "bob"], "chunk": "c1"},
]
RELATIONS = [{"label": "spouse", "description": "married to"}, {"label": "birthplace"}]


def _built(path: Path, **more: Any) -> Sidecar:
    build_sidecar(path, chunks=CHUNKS, entities=ENTITIES, facts=FACTS, relations=RELATIONS, **more)
    return Sidecar.open(path)


@pytest.fixture
def snapshot(tmp_path: Path) -> Iterator[Sidecar]:
    with _built(tmp_path / "snapshot", relation_vectors=[[1.0, 0.0], [0.0, 1.0]], embedding_model="test") as sidecar:
        yield sidecar


def test_it_fits_its_port(snapshot: Sidecar) -> None:
    assert isinstance(EmbeddingRelationSignal(snapshot), RelationSignal)


def test_the_relation_nearest_to_the_question_scores_highest(snapshot: Sidecar) -> None:
    labels = {"spouse": None, "birthplace": None}
    scores = EmbeddingRelationSignal(snapshot).relation_scores("whom did Ann wed?", labels, [0.98, 0.199])
    assert scores is not None
    assert scores["spouse"] == 1.0
    assert scores["birthplace"] == pytest.approx((0.199 - COSINE_FLOOR) / (COSINE_CEILING - COSINE_FLOOR), abs=1e-5)


def test_a_label_without_a_vector_scores_nothing_and_an_unknown_one_is_left_out(snapshot: Sidecar) -> None:
    scores = EmbeddingRelationSignal(snapshot).relation_scores("q", {"unvectored": None, "strange": None}, [1.0, 0.0])
    assert scores == {"unvectored": 0.0}


def test_it_is_absent_without_an_embedding_or_labels(snapshot: Sidecar) -> None:
    signal = EmbeddingRelationSignal(snapshot)
    assert signal.relation_scores("q", {"spouse": None}, None) is None
    assert signal.relation_scores("q", {}, [1.0, 0.0]) is None


def test_it_is_absent_where_the_snapshot_has_no_relation_vectors(tmp_path: Path) -> None:
    with _built(tmp_path / "bare") as sidecar:
        assert EmbeddingRelationSignal(sidecar).relation_scores("q", {"spouse": None}, [1.0, 0.0]) is None


@pytest.mark.parametrize(("cosine", "score"), [(-1.0, 0.0), (COSINE_FLOOR, 0.0), (COSINE_CEILING, 1.0), (1.0, 1.0)])
def test_a_score_stays_within_zero_and_one(cosine: float, score: float) -> None:
    assert relation_score(cosine) == pytest.approx(score)


def test_an_absent_signal_ranks_as_if_its_weight_were_nothing(snapshot: Sidecar) -> None:
    settings = Settings()
    weightless = settings.model_copy(update={"weights": settings.weights.model_copy(update={"relq": 0.0})})
    question = "Whom did Ann wed?"
    absent = retrieve_evidence(question, sidecar=snapshot)
    ignored = retrieve_evidence(
        question,
        sidecar=snapshot,
        embedding=None,
        relation_signal=_Fixed({"spouse": 1.0, "unvectored": 0.5}),
        settings=weightless,
    )
    assert "relq" not in {signal.value for signal in absent.weights}
    assert "relq" in {signal.value for signal in ignored.weights}
    assert [(item.chunk_id, item.utility) for item in absent.ranking] == [
        (item.chunk_id, item.utility) for item in ignored.ranking
    ]


class _Fixed:
    """A signal that says the same of every question."""

    name = "fixed"

    def __init__(self, scores: dict[str, float]) -> None:
        self._scores = scores

    def relation_scores(self, query: str, labels: object, embedding: object) -> dict[str, float]:
        return self._scores


def test_the_open_question_is_the_query_less_half_of_its_anchors() -> None:
    left = open_question([0.8, 0.6], [(0.5, [0.0, 1.0]), (0.5, None)])
    assert left == pytest.approx([0.8 / math.hypot(0.8, 0.35), 0.35 / math.hypot(0.8, 0.35)])
    assert open_question([1.0, 0.0], [(1.0, None)]) == [1.0, 0.0]
    assert open_question([1.0, 0.0], []) == [1.0, 0.0]


class _Listening:
    name = "listening"

    def __init__(self, *, reads_open_question: bool) -> None:
        self.reads_open_question = reads_open_question
        self.heard: list[Any] = []

    def relation_scores(self, query: str, labels: object, embedding: object) -> dict[str, float]:
        self.heard.append(embedding)
        return {"spouse": 1.0}


@pytest.mark.parametrize(("question", "is_named"), [("Whom did Ann wed?", True), ("Who wed?", False)])
def test_a_signal_hears_the_open_question_only_where_it_asks_and_something_is_named(
    tmp_path: Path, question: str, is_named: bool
) -> None:
    vectors = [[1.0, 0.0], [0.0, 1.0]]
    query = [0.6, 0.8]
    with _built(tmp_path / "s", entity_vectors=vectors, chunk_vectors=vectors, embedding_model="test") as sidecar:
        heard = {}
        for wants in (True, False):
            signal = _Listening(reads_open_question=wants)
            retrieve_evidence(question, sidecar=sidecar, embedding=query, relation_signal=signal, strict=True)
            heard[wants] = [pytest.approx(list(one)) for one in signal.heard]
    open_one = [0.1 / math.hypot(0.1, 0.8), 0.8 / math.hypot(0.1, 0.8)]
    assert heard[False] == [query]
    assert heard[True] == [open_one if is_named else query]
