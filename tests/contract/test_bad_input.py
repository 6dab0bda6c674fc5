"""Bad input to `retrieve_evidence`: typed errors before any work, or a bounded answer that says what was not possible."""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval import EvidenceResult, Settings, Sidecar, build_sidecar, retrieve_evidence, verify_sidecar
from latence_retrieval.errors import (
    BlankQueryError,
    DimensionMismatchError,
    InvalidInputError,
    MissingExtraError,
    PluginError,
    SidecarCorruptError,
    SidecarError,
    SidecarMismatchError,
    SidecarNotFoundError,
    SidecarVersionError,
    TierError,
    TierUnavailableError,
)
from latence_retrieval.ports.entry_tier import EntryRequest, Link, Span, TierOutcome
from latence_retrieval.settings import WalkSettings

QUESTION = "Who leads the owner of the foundry that casts the AX-100?"
MANIFEST = "manifest.json"


class Tier:
    """A third party's tier that does what the test tells it."""

    name = "third-party"

    def __init__(self, outcome: Any) -> None:
        self._outcome = outcome

    def enter(self, request: EntryRequest) -> TierOutcome:
        if isinstance(self._outcome, BaseException):
            raise self._outcome
        return self._outcome


class Index:
    """An adopter's vector index."""

    def __init__(self, found: Any, dimension: int = 16) -> None:
        self.dimension = dimension
        self._found = found

    def nearest(self, embedding: Sequence[float], k: int) -> Any:
        if isinstance(self._found, BaseException):
            raise self._found
        return self._found


class Relations:
    """A relation signal."""

    name = "relations"

    def __init__(self, scores: Any) -> None:
        self._scores = scores

    def relation_scores(self, query: str, labels: Mapping[str, str | None], embedding: Any) -> Any:
        if isinstance(self._scores, BaseException):
            raise self._scores
        return self._scores


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


def reasons(result: EvidenceResult) -> str:
    return " | ".join(f"{item.stage}: {item.reason}" for item in result.degradations)


def sound(result: EvidenceResult) -> EvidenceResult:
    """Return the result after it went through JSON unchanged and kept its budget."""
    assert EvidenceResult.model_validate_json(result.model_dump_json()) == result
    assert result.selection.tokens <= result.selection.budget_tokens
    assert result.explain()
    return result


# Arguments


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
    ["c-ada", [3], [("c-ada",)], [("c-ada", "high")], [("c-ada", math.nan)], [("c-ada", 10**400)], [(3, 0.5)], None, 7],
    ids=range(9),
)
def test_first_stage_hits_of_another_shape_are_refused(small: Path, hits: Any) -> None:
    with pytest.raises(InvalidInputError, match="first_stage"):
        retrieve_evidence(QUESTION, sidecar=small, first_stage=hits)


@pytest.mark.parametrize("tiers", ["alias", 1, ("gliner2",), (2,), (object(),), (None,), None])
def test_tiers_that_are_none_are_refused(small: Path, tiers: Any) -> None:
    with pytest.raises(InvalidInputError, match="tiers"):
        retrieve_evidence(QUESTION, sidecar=small, tiers=tiers)


@pytest.mark.parametrize("counted", [-1, 1.5, "3", None, True, math.nan])
def test_a_counter_that_gives_no_count_is_refused(small: Path, counted: Any) -> None:
    with pytest.raises(InvalidInputError, match="count_tokens"):
        retrieve_evidence(QUESTION, sidecar=small, count_tokens=lambda text: counted)


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


# Hostile text

HOSTILE = [
    '!"#$%&/()=?',
    '"AX-100" AND NOT (Orrin OR *) ^2 /x/ \\',
    "'; DROP TABLE named; --",
    "AX-100\x00Orrin\x00",
    "\ud800 AX-100 \udfff",
    "\ufeff\u202eAX-100\u202c\u2066",
    "A\u0300" * 500,
    "\u0301" * 300,
    "ﷺ" * 200,
    "🤖👩‍👩‍👧‍👦" * 100,
    "กขคฆง" * 100,
    "%s %d {0} ${x} <script>",
    "a\r\nb\u2028c\u0085d",
]


@pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_is_answered(small_vectors: Path, query: str) -> None:
    result = sound(retrieve_evidence(query, sidecar=small_vectors, embedding=[0.1] * 16))
    for anchor in result.anchors:
        if anchor.form is not None:
            assert result.query[anchor.start : anchor.end] == anchor.form


def test_lone_surrogates_are_replaced_and_told(small: Path) -> None:
    result = sound(retrieve_evidence("\ud800 AX-100", sidecar=small, first_stage=["c-\udfff", "c-ada"]))
    assert result.query == "\ufffd AX-100"
    assert result.anchors[0].entity_id == "part:ax100"
    assert "surrogate" in reasons(result)


@pytest.mark.parametrize(
    "query",
    [
        "AX-100 Orrin " * 80_000,
        "x" * 1_000_000,
        "\u0301" * 1_000_000,
        "天" * 1_000_000,
        "A. " * 333_334,
        "'" * 1_000_000,
    ],
    ids=["names", "word", "marks", "han", "initials", "quotes"],
)
def test_a_query_of_a_million_characters_is_bounded_work(small: Path, query: str) -> None:
    read: list[int] = []

    class Reader(Tier):
        def enter(self, request: EntryRequest) -> TierOutcome:
            read.append(len(request.query))
            return TierOutcome()

    result = retrieve_evidence(query, sidecar=small, first_stage=["c-ada"], tiers=(Reader(None), "alias"))
    assert read == [Settings().entry.max_query_chars]
    assert result.query == query
    assert result.work.lookups <= 10_000
    assert result.work.pushes <= 1_000
    assert "characters of the query" in reasons(result)


# Snapshots that cannot be used


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
    with pytest.raises(ValueError, match="closed"):
        retrieve_evidence(QUESTION, sidecar=sidecar)


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


# Plugins

BROKEN = [
    RuntimeError("boom"),
    MissingExtraError("gliner2", package="gliner2", purpose="the tier"),
    None,
    "links",
    TierOutcome(links=(Link(10**6, 1.0, "third-party"),)),
    TierOutcome(links=(Link(-1, 1.0, "third-party"),)),
    TierOutcome(links=(Link(0, math.nan, "third-party"),)),
    TierOutcome(links=(Link(0, math.inf, "third-party"),)),
    TierOutcome(links=(Link(0, -1.0, "third-party"),)),
    TierOutcome(links=(Link(0, 1.0, "third-party", share=7.0),)),
    TierOutcome(links=(Link(0, 1.0, "third-party", homonyms=((10**6, 0.5),)),)),
    TierOutcome(links=(Link(0, 1.0, "third-party", Span(-5, 10**6, "x")),)),
    TierOutcome(links=(Link("org:orrin", 1.0, "third-party"),)),  # type: ignore[arg-type]
]


@pytest.mark.parametrize("outcome", BROKEN, ids=range(len(BROKEN)))
def test_a_tier_that_fails_is_recorded_and_the_others_answer(small: Path, outcome: Any) -> None:
    result = sound(retrieve_evidence(QUESTION, sidecar=small, tiers=(Tier(outcome), "alias")))
    record = {record.tier: record for record in result.tiers}["third-party"]
    assert record.state == "failed"
    assert record.detail
    assert result.anchors[0].entity_id == "part:ax100"
    assert "third-party" in reasons(result)


@pytest.mark.parametrize("outcome", BROKEN, ids=range(len(BROKEN)))
def test_a_tier_that_fails_raises_when_strict(small: Path, outcome: Any) -> None:
    with pytest.raises((TierError, MissingExtraError)):
        retrieve_evidence(QUESTION, sidecar=small, tiers=(Tier(outcome), "alias"), strict=True)


def test_a_tier_that_cannot_run_is_skipped_even_when_strict(small: Path) -> None:
    result = sound(
        retrieve_evidence(
            QUESTION, sidecar=small, tiers=(Tier(TierUnavailableError("no model today")), "alias"), strict=True
        )
    )
    assert [(record.tier, record.state) for record in result.tiers] == [("third-party", "skipped"), ("alias", "linked")]


@pytest.mark.parametrize(
    "found",
    [RuntimeError("boom"), None, [(10**6, 0.5)], [("nobody", 0.5)], [(0, math.nan)], [("org:orrin",)]],
    ids=range(6),
)
def test_an_index_that_fails_or_answers_nonsense_links_nothing(small_vectors: Path, found: Any) -> None:
    index = Index(found)
    result = sound(
        retrieve_evidence(
            "xyzzy", sidecar=small_vectors, embedding=[0.1] * 16, entity_index=index, first_stage=["c-ada"]
        )
    )
    assert result.anchors == ()
    assert result.ranking[0].chunk_id == "c-ada"


def test_an_index_may_answer_with_ids_or_numbers(small_vectors: Path) -> None:
    numpy = pytest.importorskip("numpy")
    for found in ([("org:orrin", 0.9)], [(0, 0.9)], [(numpy.int64(0), numpy.float32(0.9))]):
        result = sound(
            retrieve_evidence(
                "xyzzy", sidecar=small_vectors, embedding=[0.1] * 16, entity_index=Index(found), tiers=("ann",)
            )
        )
        assert [anchor.entity_id for anchor in result.anchors] == ["org:orrin"]


@pytest.mark.parametrize(
    "scores", [RuntimeError("boom"), "high", {"cast_by": "high"}, {"cast_by": math.nan}], ids=range(4)
)
def test_a_relation_signal_that_fails_is_recorded_and_absent(small: Path, scores: Any) -> None:
    result = sound(retrieve_evidence(QUESTION, sidecar=small, relation_signal=Relations(scores)))
    assert "relq" not in result.weights
    assert "relations" in reasons(result)
    with pytest.raises(TierError):
        retrieve_evidence(QUESTION, sidecar=small, relation_signal=Relations(scores), strict=True)


def test_a_relation_signal_that_is_absent_is_not_zero(small: Path) -> None:
    absent = sound(retrieve_evidence(QUESTION, sidecar=small, relation_signal=Relations(None)))
    zero = sound(retrieve_evidence(QUESTION, sidecar=small, relation_signal=Relations({})))
    assert "relq" not in absent.weights
    assert zero.weights["relq"] > 0.0
    assert sum(absent.weights.values()) == pytest.approx(1.0)
    assert sum(zero.weights.values()) == pytest.approx(1.0)
