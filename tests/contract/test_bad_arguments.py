"""Arguments of `retrieve_evidence`: typed errors before any work; nothing asked for gives nothing."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval import Settings, Sidecar, build_sidecar, retrieve_evidence, verify_sidecar
from latence_retrieval.errors import BlankQueryError, DimensionMismatchError, InvalidInputError
from latence_retrieval.ports.entry_tier import TierOutcome
from latence_retrieval.settings import WalkSettings
from tests.contract.asking import QUESTION, Index, Tier, reasons, sound


class Named(Tier):
    """A tier of any name."""

    def __init__(self, name: Any) -> None:
        super().__init__(TierOutcome())
        self.name = name


@pytest.mark.parametrize("query", ["", " ", "\n\t ", "\u3000\u00a0"])
def test_a_blank_query_is_refused(small: Path, query: str) -> None:
    with pytest.raises(BlankQueryError):
        retrieve_evidence(query, sidecar=small)


@pytest.mark.parametrize("query", [None, b"AX-100", 7, ["AX-100"]])
def test_a_query_that_is_no_text_is_refused(small: Path, query: Any) -> None:
    with pytest.raises(InvalidInputError, match="query"):
        retrieve_evidence(query, sidecar=small)


@pytest.mark.parametrize("value", [-1, 1.5, True, None, "3", math.nan])
@pytest.mark.parametrize("argument", ["k", "budget_tokens"])
def test_a_count_that_is_no_count_is_refused(small: Path, argument: str, value: Any) -> None:
    with pytest.raises(InvalidInputError, match=argument):
        retrieve_evidence(QUESTION, sidecar=small, **{argument: value})


def test_arguments_are_checked_before_the_snapshot_is_opened() -> None:
    for wrong in ({"k": -1}, {"budget_tokens": -1}, {"tiers": ("nonsense",)}, {"first_stage": [3]}):
        with pytest.raises(InvalidInputError):
            retrieve_evidence(QUESTION, sidecar="/nowhere", **wrong)
    with pytest.raises(BlankQueryError):
        retrieve_evidence(" ", sidecar="/nowhere")


@pytest.mark.parametrize("length", [0, 1, 15, 17])
def test_an_embedding_of_another_dimension_is_refused(small_vectors: Path, length: int) -> None:
    with pytest.raises(DimensionMismatchError, match="embedding"):
        retrieve_evidence(QUESTION, sidecar=small_vectors, embedding=[0.1] * length)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("fixture", ["small", "small_vectors"])
def test_an_embedding_with_nan_or_infinity_is_refused(
    request: pytest.FixtureRequest, fixture: str, value: float
) -> None:
    with pytest.raises(InvalidInputError, match="embedding"):
        retrieve_evidence(QUESTION, sidecar=request.getfixturevalue(fixture), embedding=[0.1] * 15 + [value])


def test_an_embedding_of_zeros_is_no_embedding(small_vectors: Path) -> None:
    result = sound(retrieve_evidence(QUESTION, sidecar=small_vectors, embedding=[0.0] * 16))
    assert "embedding" in reasons(result)
    assert result.ranking == retrieve_evidence(QUESTION, sidecar=small_vectors).ranking


@pytest.mark.parametrize("scale", [1e308, 1e-300, 1.0])
def test_the_length_of_an_embedding_means_nothing(small_vectors: Path, scale: float) -> None:
    embedding = [1.0 - at / 16 for at in range(16)]
    expected = retrieve_evidence(QUESTION, sidecar=small_vectors, embedding=embedding)
    scaled = retrieve_evidence(QUESTION, sidecar=small_vectors, embedding=[scale * value for value in embedding])
    assert "similarity" in scaled.weights
    assert [told.chunk_id for told in scaled.ranking] == [told.chunk_id for told in expected.ranking]


def test_settings_at_their_ends_give_an_answer_or_are_refused(small_vectors: Path) -> None:
    for value in (math.inf, math.nan, -1.0, 1e9):
        with pytest.raises(ValueError, match="sharpness"):
            WalkSettings(overlap_sharpness=value)
    for walk in (
        WalkSettings(overlap_sharpness=300.0, continue_probability=0.0),
        WalkSettings(about_weight=0.0, fact_weight=0.0, mention_weight=0.0),
        WalkSettings(discovered_weight=0.0, max_degree=0, max_chunk_pushes=0, max_entity_pushes=0, max_anchor_pushes=0),
        WalkSettings(first_stage_share=1.0, first_stage_seeds=0, max_hops=9),
    ):
        settings = Settings(walk=walk, max_ranked=1, max_chains=0, lexical_candidates=0, coverage=0.0, cover_depth=0)
        sound(retrieve_evidence(QUESTION, sidecar=small_vectors, embedding=[0.5] * 16, settings=settings))


def test_an_index_of_another_dimension_is_refused(small: Path, small_vectors: Path) -> None:
    for path in (small, small_vectors):
        with pytest.raises(DimensionMismatchError, match="entity_index"):
            retrieve_evidence(
                QUESTION, sidecar=path, embedding=[0.1] * 16, entity_index=Index([], dimension=8), tiers=("ann",)
            )


@pytest.mark.parametrize(
    "hits",
    [
        "c-ada",
        [3],
        [("c-ada",)],
        [("c-ada", "high")],
        [("c-ada", math.nan)],
        [("c-ada", 10**400)],
        [(3, 0.5)],
        None,
        7,
        {"c-ada"},
        {"c-ada": 1.0},
        [("c-ada", "0.5")],
        [("c-ada", True)],
        [""],
        [("", 0.5)],
        [b"c-ada"],
        [("c-ada", 0.5, 0.1)],
    ],
    ids=range(17),
)
def test_first_stage_hits_of_another_shape_are_refused(small: Path, hits: Any) -> None:
    with pytest.raises(InvalidInputError, match="first_stage"):
        retrieve_evidence(QUESTION, sidecar=small, first_stage=hits)


@pytest.mark.parametrize(
    "tiers",
    [
        *(
            "alias",
            b"alias",
            1,
            ("gliner2",),
            (2,),
            (object(),),
            (None,),
            None,
            (True,),
            (False,),
            {"alias"},
            {"alias": 1},
        ),
        *(("alias", "alias"), ("alias", 1), ("ann", "alias", 0), (Named("x"), Named("x"))),
        *((Named(name),) for name in (None, 7, "", "ann", "alias")),
    ],
    ids=range(21),
)
def test_tiers_that_are_none_are_refused(small: Path, tiers: Any) -> None:
    with pytest.raises(InvalidInputError, match="tiers"):
        retrieve_evidence(QUESTION, sidecar=small, tiers=tiers)


@pytest.mark.parametrize("counted", [-1, 1.5, "3", None, True, math.nan])
def test_a_counter_that_gives_no_count_is_refused(small: Path, counted: Any) -> None:
    with pytest.raises(InvalidInputError, match="count_tokens"):
        retrieve_evidence(QUESTION, sidecar=small, count_tokens=lambda text: counted)


@pytest.mark.parametrize(
    "wrong",
    [
        *({"entity_index": value} for value in (object(), 7, Index([], dimension="16"), Index([], dimension=True))),  # type: ignore[arg-type]
        *({"relation_signal": value} for value in (object(), 7, Named("no scores"))),
        *({"count_tokens": value} for value in (None, 7, "count")),
        *({"settings": value} for value in (None, {}, WalkSettings())),
        *({"sidecar": value} for value in (None, 7, "", b"kb", ["kb"])),
    ],
    ids=range(18),
)
def test_a_part_that_lacks_what_is_asked_of_it_is_refused_by_name(small: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(wrong))):
        retrieve_evidence(QUESTION, **{"sidecar": small, **wrong})


@pytest.mark.parametrize("path", [None, 7, "", b"kb", ["kb"]])
def test_what_is_no_path_is_opened_and_verified_by_nobody(path: Any) -> None:
    for use in (Sidecar.open, verify_sidecar):
        with pytest.raises(InvalidInputError, match="path"):
            use(path)


@pytest.mark.parametrize("embedding", [["1"] * 16, [True] * 16, {1.0: 2.0}, [1j] * 16, [None] * 16, [10**400] * 16])
def test_an_embedding_of_what_is_no_number_is_refused(small_vectors: Path, embedding: Any) -> None:
    with pytest.raises(InvalidInputError, match="embedding"):
        retrieve_evidence(QUESTION, sidecar=small_vectors, embedding=embedding)


def test_a_snapshot_opened_by_a_relative_path_is_read_wherever_the_process_goes(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.parent)
    with Sidecar.open(small.name) as sidecar:
        monkeypatch.chdir(tmp_path)
        expected = retrieve_evidence(QUESTION, sidecar=small)
        assert retrieve_evidence(QUESTION, sidecar=sidecar) == expected
        child = os.fork()
        if child == 0:  # it opens the files anew
            os._exit(retrieve_evidence(QUESTION, sidecar=sidecar) != expected)
        assert os.waitpid(child, 0)[1] == 0


# Nothing asked for, nothing found


def test_k_zero_gives_an_empty_result(small: Path) -> None:
    result = sound(retrieve_evidence(QUESTION, sidecar=small, k=0))
    assert (result.ranking, result.chains, result.selection.chunks) == ((), (), ())
    assert result.to_prompt() == ""


def test_budget_zero_packs_nothing(small: Path) -> None:
    result = sound(retrieve_evidence(QUESTION, sidecar=small, budget_tokens=0))
    assert result.selection.chunks == ()
    assert result.to_prompt() == ""


@pytest.mark.parametrize("k", [1, 1_000_000])
def test_any_positive_k_is_answered(small: Path, k: int) -> None:
    result = sound(retrieve_evidence(QUESTION, sidecar=small, k=k, budget_tokens=10**12))
    assert 0 < len(result.ranking) <= k


def test_without_an_anchor_the_first_stage_carries_on_and_the_reason_is_told(small: Path) -> None:
    result = sound(retrieve_evidence("xyzzy plugh", sidecar=small, first_stage=["c-brack", "c-ada"]))
    assert result.anchors == ()
    assert "no anchor" in reasons(result)
    assert {"c-brack", "c-ada"} <= {told.chunk_id for told in result.ranking}
    ranks = {told.chunk_id: told.first_stage_rank for told in result.ranking}
    assert (ranks["c-brack"], ranks["c-ada"]) == (1, 2)


def test_without_anchor_or_first_stage_the_result_is_empty_or_lexical(small: Path) -> None:
    result = sound(retrieve_evidence("xyzzy plugh", sidecar=small))
    assert result.ranking == ()
    assert "no anchor" in reasons(result)
    lexical = sound(retrieve_evidence("harvest late", sidecar=small))
    assert lexical.ranking[0].chunk_id == "c-noise-1"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_sidecar(tmp_path_factory.mktemp("empty") / "sidecar", chunks=[]).path


def test_an_empty_snapshot_passes_the_first_stage_through(empty: Path) -> None:
    result = sound(retrieve_evidence(QUESTION, sidecar=empty, first_stage=[("mine", 0.9), ("other", 0.3)]))
    assert [told.chunk_id for told in result.ranking] == ["mine", "other"]
    assert result.chains == ()
    assert result.selection.chunks == ()
    assert "no chunk" in reasons(result)
    assert {item.chunk_id for item in result.dropped} == {"mine", "other"}


def test_an_empty_snapshot_verifies(empty: Path) -> None:
    assert verify_sidecar(empty).rows["chunk"] == 0


def test_hits_that_the_snapshot_does_not_know_are_told_and_ranked_last(small: Path) -> None:
    result = sound(retrieve_evidence(QUESTION, sidecar=small, first_stage=["foreign", "c-brack"], k=20))
    assert result.ranking[-1].chunk_id == "foreign"
    assert "not in this snapshot" in reasons(result)
    assert any(item.chunk_id == "foreign" and "not in this snapshot" in item.reason for item in result.dropped)


def test_repeated_hits_count_once_at_their_best_rank(small: Path) -> None:
    once = retrieve_evidence(QUESTION, sidecar=small, first_stage=["c-ada", "c-brack"])
    twice = retrieve_evidence(QUESTION, sidecar=small, first_stage=["c-ada", "c-ada", "c-brack", "c-ada"])
    assert twice == once


@pytest.mark.parametrize("scores", [(0.0, 0.0), (-5.0, -1.0), (1e308, 1e308), (1.0, 1.0), (5e-324, 0.0)])
def test_first_stage_scores_of_any_finite_scale_are_taken(small: Path, scores: tuple[float, float]) -> None:
    hits = list(zip(("c-ada", "c-brack"), scores, strict=True))
    result = sound(retrieve_evidence("xyzzy", sidecar=small, first_stage=hits))
    assert {told.chunk_id for told in result.ranking} >= {"c-ada", "c-brack"}
