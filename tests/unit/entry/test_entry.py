"""From a question to anchors: tiers, ladder, homonyms, and the restart vector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval import EvidenceResult, Settings, Sidecar, build_sidecar, retrieve_evidence
from latence_retrieval.entry.restart import restart_vector
from latence_retrieval.ports.entry_tier import EntryRequest, Link, Span, TierOutcome
from latence_retrieval.settings import EntrySettings


def published(
    tmp_path: Path, entities: list[dict[str, Any]], texts: Sequence[str] = ("nothing here",), **options: Any
) -> Path:
    chunks = [{"id": f"c{n}", "text": text} for n, text in enumerate(texts)]
    return build_sidecar(tmp_path / "sidecar", chunks=chunks, entities=entities, **options).path


def anchored(result: EvidenceResult) -> dict[str, float]:
    return {anchor.entity_id: anchor.weight for anchor in result.anchors}


class Recogniser:
    """A tier that recognises the spans it is told."""

    name = "ner"

    def __init__(self, *spans: tuple[int, int]) -> None:
        self._spans = spans
        self.requests: list[EntryRequest] = []

    def enter(self, request: EntryRequest) -> TierOutcome:
        self.requests.append(request)
        spans = [Span(start, end, request.query[start:end], "thing", 0.8) for start, end in self._spans]
        return request.link_spans(spans, self.name)


# Tier 1


def test_homonyms_share_the_weight_of_their_form_and_are_told(small: Path) -> None:
    result = retrieve_evidence("Where is Lumen?", sidecar=small)
    assert anchored(result) == {"city:lumen": 0.5, "lamp:lumen": 0.5}
    for anchor in result.anchors:
        assert anchor.share == 0.5
        assert [other.share for other in anchor.passed_over] == [0.5]
        assert anchor.form == "Lumen"


def test_a_full_name_with_its_disambiguator_is_that_one_alone(small: Path) -> None:
    assert anchored(retrieve_evidence("Where is Lumen (lamp)?", sidecar=small)) == {"lamp:lumen": 1.0}


def test_homonyms_are_shared_by_likeness_to_the_query(tmp_path: Path) -> None:
    entities = [
        {"id": "near", "name": "Lumen", "vector": [1.0, 0.0]},
        {"id": "far", "name": "Lumen", "vector": [0.6, 0.8]},
        {"id": "unknown", "name": "Lumen"},
    ]
    path = published(tmp_path, entities)
    settings = Settings(entry=EntrySettings(min_homonym_share=0.0, homonym_sharpness=5.0))
    with_vectors = retrieve_evidence("Lumen", sidecar=path, embedding=[2.0, 0.0], settings=settings)
    weights = anchored(with_vectors)
    assert weights["near"] > weights["unknown"] > weights["far"] > 0.0
    assert sum(weights.values()) == pytest.approx(1.0)
    strict = Settings(entry=EntrySettings(min_homonym_share=0.4, homonym_sharpness=5.0))
    kept = retrieve_evidence("Lumen", sidecar=path, embedding=[2.0, 0.0], settings=strict)
    assert set(anchored(kept)) == {"near"}
    assert {other.entity_id for other in kept.anchors[0].passed_over} == {"unknown", "far"}
    assert len(set(anchored(retrieve_evidence("Lumen", sidecar=path)).values())) == 1


def test_given_names_weigh_more_than_derived_ones(tmp_path: Path) -> None:
    path = published(tmp_path, [{"id": "derived", "name": "Lumen Ltd"}, {"id": "given", "name": "Lumen"}])
    weights = anchored(retrieve_evidence("What makes Lumen?", sidecar=path))
    assert weights["given"] > weights["derived"] > 0.0


def test_an_acronym_counts_in_capitals_only(tmp_path: Path) -> None:
    path = published(tmp_path, [{"id": "e", "name": "Orrin Works Alliance"}])
    assert anchored(retrieve_evidence("Who leads OWA?", sidecar=path)) == {"e": 1.0}
    assert anchored(retrieve_evidence("Who leads owa?", sidecar=path)) == {}


def test_a_common_word_that_is_a_name_somewhere_is_no_anchor(tmp_path: Path) -> None:
    texts = [f"In the fall of year {n} they saw leaves fall." for n in range(20)]
    path = published(tmp_path, [{"id": "film", "name": "Fall"}, {"id": "o", "name": "Orrin"}], texts)
    assert set(anchored(retrieve_evidence("Did Orrin fall in winter?", sidecar=path))) == {"o"}


def test_a_rare_name_weighs_more_than_one_that_is_everywhere(tmp_path: Path) -> None:
    texts = ["We like Brack much."] * 30 + ["We like Orrin much."]
    path = published(tmp_path, [{"id": "common", "name": "Brack"}, {"id": "rare", "name": "Orrin"}], texts)
    weights = anchored(retrieve_evidence("Is Orrin in Brack?", sidecar=path))
    assert weights["rare"] > 3 * weights["common"]


def test_the_longest_name_shuts_out_the_shorter(tmp_path: Path) -> None:
    path = published(tmp_path, [{"id": "a", "name": "New Velden"}, {"id": "b", "name": "Velden"}])
    assert anchored(retrieve_evidence("Where is New Velden?", sidecar=path)) == {"a": 1.0}
    both = anchored(retrieve_evidence("Is Velden near New Velden?", sidecar=path))
    assert set(both) == {"a", "b"}


def test_limits_on_look_ups_and_anchors_hold_and_are_told(tmp_path: Path) -> None:
    names = [f"Alpha{chr(97 + n % 26)}{chr(97 + n // 26)}" for n in range(60)]
    path = published(tmp_path, [{"id": name, "name": name} for name in names])
    few = retrieve_evidence(" ".join(names), sidecar=path, settings=Settings(entry=EntrySettings(max_anchors=3)))
    assert len(few.anchors) == 3
    cut = retrieve_evidence(" ".join(names), sidecar=path, settings=Settings(entry=EntrySettings(max_lookups=10)))
    assert len(cut.anchors) == 10
    assert any("look-up limit" in item.reason for item in cut.degradations)


# Tier 0


def test_tier_0_enters_only_where_nothing_is_named(small_vectors: Path) -> None:
    embedding = [0.3] * 8 + [-0.2] * 8
    named = retrieve_evidence("Where is Brack?", sidecar=small_vectors, embedding=embedding)
    assert [(record.tier, record.state) for record in named.tiers] == [("alias", "linked"), ("ann", "skipped")]
    unnamed = retrieve_evidence("where is it?", sidecar=small_vectors, embedding=embedding)
    assert {anchor.tier for anchor in unnamed.anchors} == {"ann"}
    assert 0 < len(unnamed.anchors) <= Settings().entry.nearest_entities
    assert all(anchor.form is None for anchor in unnamed.anchors)
    weights = [anchor.weight for anchor in unnamed.anchors]
    assert weights == sorted(weights, reverse=True)
    assert sum(weights) == pytest.approx(1.0)


def test_tier_0_says_what_it_lacks(small: Path, small_vectors: Path) -> None:
    without = retrieve_evidence("where is it?", sidecar=small_vectors, tiers=("ann",))
    assert without.tiers[0].detail == "no query embedding was given"
    bare = retrieve_evidence("where is it?", sidecar=small, embedding=[0.1] * 16, tiers=("ann",))
    assert "no entity vectors" in (bare.tiers[0].detail or "")


def test_tiers_may_be_numbers(small_vectors: Path) -> None:
    by_name, by_number = (
        retrieve_evidence("Where is Brack?", sidecar=small_vectors, tiers=tiers) for tiers in (("ann", "alias"), (0, 1))
    )
    assert by_name == by_number


def test_no_tiers_find_no_anchors(small: Path) -> None:
    result = retrieve_evidence("Where is Brack?", sidecar=small, tiers=())
    assert (result.anchors, result.tiers) == ((), ())


# Tiers of others


def test_recognised_spans_go_through_the_alias_table(small: Path) -> None:
    query = "Where is Lumen, and who is Nobody Atall?"
    tier = Recogniser((9, 14), (27, 39))
    result = retrieve_evidence(query, sidecar=small, tiers=(tier,))
    assert {anchor.entity_id for anchor in result.anchors} == {"city:lumen", "lamp:lumen"}
    assert all((anchor.start, anchor.end, anchor.tier) == (9, 14, "ner") for anchor in result.anchors)
    (record,) = result.tiers
    assert [(span.text, span.start, span.end, span.label) for span in record.unlinked] == [
        ("Nobody Atall", 27, 39, "thing")
    ]


def test_a_tier_sees_the_query_and_the_snapshots_own_look_ups(small_vectors: Path) -> None:
    tier = Recogniser()
    with Sidecar.open(small_vectors) as sidecar:
        retrieve_evidence("Who casts the AX-100?", sidecar=sidecar, embedding=[1.0] + [0.0] * 15, tiers=(tier,))
        (request,) = tier.requests
        assert request.query == "Who casts the AX-100?"
        assert request.entity_types == ("company", "person", "place", "product")
        assert request.embedding is not None
        assert request.nearest is not None
        assert len(request.nearest(request.embedding, 3)) == 3
        assert set(request.relation_labels()) == {"cast_by"}


def test_an_entity_that_two_tiers_link_counts_once_at_its_heaviest(small: Path) -> None:
    result = retrieve_evidence("Where is Brack?", sidecar=small, tiers=(Recogniser((9, 14)), "alias"))
    assert [anchor.entity_id for anchor in result.anchors] == ["city:brack"]
    assert [(record.tier, record.links) for record in result.tiers] == [("ner", 1), ("alias", 1)]


# The restart vector


def test_named_entities_carry_all_the_mass_and_recalled_ones_only_where_none_is_named() -> None:
    named, recalled = Link(1, 0.5, "alias"), Link(2, 9.0, "ann")
    assert restart_vector([named, recalled], max_anchors=9) == [(named, 1.0)]
    assert restart_vector([recalled], max_anchors=9) == [(recalled, 1.0)]
    assert restart_vector([], max_anchors=9) == []
    assert restart_vector([Link(1, 0.0, "alias")], max_anchors=9) == []


def test_masses_sum_to_one_after_the_cut() -> None:
    links = [Link(n, float(n), "alias") for n in range(1, 8)]
    kept = restart_vector(links, max_anchors=3)
    assert [link.entity for link, _ in kept] == [7, 6, 5]
    assert sum(mass for _, mass in kept) == pytest.approx(1.0)
