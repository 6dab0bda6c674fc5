"""The result of a call: chains that connect, a prompt that costs what it says, words that explain it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from pydantic import ValidationError

from latence_retrieval import EvidenceResult, Settings, Sidecar, retrieve_evidence
from latence_retrieval.results import Chain, Signal
from latence_retrieval.select.tokens import estimate_tokens

QUESTION = "Who leads the owner of the foundry that casts the AX-100?"


def vector(seed: int) -> list[float]:
    return [((seed * 7 + at * 13) % 11) / 11 - 0.4 for at in range(16)]


@pytest.fixture(scope="module")
def results(sample: Path, questions: list[str]) -> list[EvidenceResult]:
    found = []
    for at, question in enumerate(questions):
        first_stage = ["c-001", "c-040"] if at % 2 else []
        found.append(retrieve_evidence(question, sidecar=sample, embedding=vector(at), first_stage=first_stage, k=20))
        found.append(retrieve_evidence(question, sidecar=sample, budget_tokens=150))
    return found


def assert_connected(chain: Chain, chunk_entities: dict[str, set[str]]) -> None:
    """Hops must meet: forwards up to the goal, and for a chain that joins anchors backwards from there."""
    goal = next(at for at, hop in enumerate(chain.hops) if hop.target is None)
    forwards, backwards = chain.hops[: goal + 1], chain.hops[goal + 1 :]
    for hop, after in pairwise(forwards):
        assert hop.target == after.source
    if backwards:
        assert backwards[0].target is None
        assert backwards[0].chunk_id == forwards[-1].chunk_id
        for hop, before in pairwise(backwards):
            assert hop.source == before.target
    starts = [part[at].source for part, at in ((forwards, 0), (backwards, -1)) if part]
    assert [start.entity_id for start in starts if start is not None] == list(chain.anchor_ids)
    assert chain.joins == (len(chain.anchor_ids) == 2) == bool(backwards)
    for hop in chain.hops:
        witnesses = chunk_entities[hop.chunk_id]
        assert all(entity.entity_id in witnesses for entity in (hop.source, hop.target) if entity is not None)
    assert chain.chunk_ids == tuple(dict.fromkeys(hop.chunk_id for hop in chain.hops))


@pytest.fixture(scope="module")
def chunk_entities(sample: Path) -> dict[str, set[str]]:
    with Sidecar.open(sample) as sidecar:
        chunks = sidecar.chunks(range(sidecar.manifest.counts.chunks))
        links = sidecar.links(range(len(chunks)))
        return {
            chunk.id: set()
            if one is None
            else {entity.id for entity in sidecar.entities([n >> 1 for n in one.entities])}
            for chunk, one in zip(chunks, links, strict=True)
        }


def test_chains_connect_and_their_witnesses_hold_both_ends(
    results: list[EvidenceResult], chunk_entities: dict[str, set[str]]
) -> None:
    chains = [chain for result in results for chain in result.chains]
    assert len(chains) > 50
    assert any(chain.joins for chain in chains)
    assert any(len(chain.hops) > 1 and not chain.joins for chain in chains)
    for chain in chains:
        assert_connected(chain, chunk_entities)


def test_chains_start_at_anchors_and_come_best_first(results: list[EvidenceResult]) -> None:
    for result in results:
        anchors = {anchor.entity_id for anchor in result.anchors}
        assert all(set(chain.anchor_ids) <= anchors for chain in result.chains)
        scores = [chain.score for chain in result.chains]
        assert scores == sorted(scores, reverse=True)
        assert len(result.chains) <= Settings().max_chains


def test_no_hop_is_repeated_and_no_chain_is_the_beginning_of_another(results: list[EvidenceResult]) -> None:
    for result in results:
        ways = [tuple((hop.source, hop.relation, hop.chunk_id) for hop in chain.hops) for chain in result.chains]
        for at, way in enumerate(ways):
            assert len(set(result.chains[at].hops)) == len(way)
            assert not any(other[: len(way)] == way for place, other in enumerate(ways) if place != at)


def test_a_fact_in_a_chain_is_one_that_was_stated(sample: Path, results: list[EvidenceResult]) -> None:
    with Sidecar.open(sample) as sidecar:
        count = sidecar.manifest.counts.facts
        labels = [label for label, _ in sidecar.relations(range(sidecar.manifest.counts.relations))]
        stated = {fact.id: fact for fact in sidecar.facts(range(count))}
        hops = [hop for result in results for chain in result.chains for hop in chain.hops if hop.fact_id is not None]
        assert hops
        for hop in hops:
            fact = stated[hop.fact_id]
            assert labels[fact.relation] == hop.relation
            members = {entity.id for entity in sidecar.entities(fact.members)}
            assert all(entity.entity_id in members for entity in (hop.source, hop.target) if entity is not None)
            assert sidecar.chunks([fact.chunk])[0].id == hop.chunk_id


def test_results_go_through_json_unchanged(results: list[EvidenceResult]) -> None:
    for result in results:
        again = EvidenceResult.model_validate_json(result.model_dump_json())
        assert again == result
        assert again.model_dump_json() == result.model_dump_json()
        assert again.explain() == result.explain()


def test_the_prompt_costs_exactly_what_the_selection_says(results: list[EvidenceResult]) -> None:
    for result in results:
        prompt = result.to_prompt()
        assert result.selection.tokens == (estimate_tokens(prompt) if prompt else 0) <= result.selection.budget_tokens
        for selected in result.selection.chunks:
            assert f"[{selected.citation}]" in prompt
            assert selected.chunk.text in prompt


def test_ranked_and_packed_passages_are_accounted_for(results: list[EvidenceResult]) -> None:
    for result in results:
        ranked = [told.chunk_id for told in result.ranking]
        assert len(set(ranked)) == len(ranked)
        packed = [selected.chunk.id for selected in result.selection.chunks]
        dropped = [item.chunk_id for item in result.dropped]
        assert sorted(packed + dropped) == sorted(ranked)
        assert packed == [name for name in ranked if name in set(packed)]


def test_a_ranking_longer_than_the_candidates_is_accounted_for_too(sample: Path) -> None:
    settings = Settings(selection={"max_candidates": 3})  # type: ignore[arg-type]
    result = retrieve_evidence("Tessmar Holding", sidecar=sample, k=10, settings=settings)
    assert len(result.ranking) == 10
    assert len(result.dropped) + len(result.selection.chunks) == 10


def test_weights_sum_to_one_and_signals_are_those_weighed(results: list[EvidenceResult]) -> None:
    for result in results:
        assert sum(result.weights.values()) == pytest.approx(1.0)
        for told in result.ranking:
            assert set(told.signals) == set(result.weights)
            utility = sum(weight * told.signals[signal] for signal, weight in result.weights.items())
            assert told.utility == pytest.approx(utility)


def test_without_an_embedding_similarity_is_absent_and_not_zero(small_vectors: Path) -> None:
    with_it = retrieve_evidence(QUESTION, sidecar=small_vectors, embedding=vector(1))
    without = retrieve_evidence(QUESTION, sidecar=small_vectors)
    assert Signal.SIMILARITY in with_it.weights
    assert Signal.SIMILARITY not in without.weights
    assert all(Signal.SIMILARITY not in told.signals for told in without.ranking)


def test_the_explanation_names_anchors_chains_and_passages(results: list[EvidenceResult]) -> None:
    for result in results:
        words = result.explain()
        assert result.query in words
        assert result.snapshot_id in words
        for anchor in result.anchors:
            assert anchor.name in words
            assert f"{anchor.start}-{anchor.end}" in words or anchor.form is None
        for chain in result.chains:
            for hop in chain.hops:
                assert f"--{hop.relation}--" in words
                assert f"[{hop.chunk_id}]" in words
        for item in result.dropped:
            assert item.chunk_id in words
        for record in result.tiers:
            assert f"tier {record.tier}: {record.state.value}" in words


def test_anchors_weigh_one_together_and_point_into_the_query(results: list[EvidenceResult]) -> None:
    for result in results:
        assert sum(anchor.weight for anchor in result.anchors) == pytest.approx(1.0)
        for anchor in result.anchors:
            if anchor.form is not None:
                assert result.query[anchor.start : anchor.end] == anchor.form
            assert anchor.entity_id not in {other.entity_id for other in anchor.passed_over}


def test_a_passage_that_the_walk_reached_names_its_way_even_where_no_chain_is_told(sample: Path) -> None:
    question = "What does Tessmar Holding own?"
    all_told = retrieve_evidence(question, sidecar=sample, k=20)
    none_told = retrieve_evidence(question, sidecar=sample, k=20, settings=Settings(max_chains=0))
    assert none_told.chains == ()
    assert [told.via for told in none_told.ranking] == [told.via for told in all_told.ranking]
    assert sum(bool(told.via) for told in none_told.ranking) > Settings().max_chains


def test_a_result_cannot_be_changed(results: list[EvidenceResult]) -> None:
    with pytest.raises(ValidationError):
        results[0].query = "another"  # type: ignore[misc]


def test_the_work_done_keeps_the_limits(results: list[EvidenceResult]) -> None:
    limits = Settings().walk
    for result in results:
        work = result.work
        assert 0.0 <= work.residual <= 1.0
        assert 0 < work.pushes <= limits.max_anchor_pushes + limits.max_entity_pushes + 2 * limits.max_chunk_pushes


def test_the_bridge_passage_that_shares_no_word_with_the_question_is_found(small: Path) -> None:
    result = retrieve_evidence("Who pours the metal for the AX-100?", sidecar=small)
    assert "c-velden" in [told.chunk_id for told in result.ranking][:3]
    told = {chunk.chunk_id: chunk for chunk in result.ranking}["c-velden"]
    assert "AX-100" in told.via
