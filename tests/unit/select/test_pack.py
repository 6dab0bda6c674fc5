"""Packing: whole chains, no repetition, and a true reason for what is left out."""

from __future__ import annotations

from latence_retrieval.records import Chunk
from latence_retrieval.select.pack import Candidate, pack
from latence_retrieval.settings import SelectionSettings


def candidates(*texts: str, worths: tuple[float, ...] | None = None) -> list[Candidate]:
    return [
        Candidate(Chunk(id=f"c{n}", text=text), 0.5, worths[n] if worths else 1.0, ()) for n, text in enumerate(texts)
    ]


def words(text: str) -> int:
    return len(text.split())


def test_a_chain_is_completed_where_its_bonus_is_worth_more_than_a_better_passage() -> None:
    given = candidates("one alpha", "two beta", "three gamma", worths=(1.0, 0.9, 0.8))
    plain, _ = pack(
        given, [], budget_tokens=6, count=words, settings=SelectionSettings(sharpness=1.0, completion_bonus=0.3)
    )
    assert [selected.chunk.id for selected in plain.chunks] == ["c0", "c1"]
    chained, _ = pack(
        given,
        [frozenset({0, 2})],
        budget_tokens=6,
        count=words,
        settings=SelectionSettings(sharpness=1.0, completion_bonus=0.3),
    )
    assert [selected.chunk.id for selected in chained.chunks] == ["c0", "c2"]


def test_a_repetition_gives_way_to_something_new() -> None:
    given = candidates(
        "the river bridge stands", "the river bridge stands", "quite another matter here", worths=(1.0, 0.9, 0.8)
    )
    packed, dropped = pack(
        given, [], budget_tokens=10, count=words, settings=SelectionSettings(sharpness=1.0, redundancy=0.9)
    )
    assert [selected.chunk.id for selected in packed.chunks] == ["c0", "c2"]
    assert [(item.chunk_id, item.reason) for item in dropped] == [("c1", "repeats a passage that is packed")]


def test_equal_passages_are_packed_in_the_order_of_the_ranking() -> None:
    packed, _ = pack(candidates("aaa", "bbb", "ccc"), [], budget_tokens=4, count=words, settings=SelectionSettings())
    assert [selected.chunk.id for selected in packed.chunks] == ["c0", "c1"]


def test_a_passage_that_fills_the_budget_is_packed_and_one_that_is_larger_is_told() -> None:
    given = candidates("w " * 9, "w " * 10)
    packed, dropped = pack(given, [], budget_tokens=10, count=words, settings=SelectionSettings())
    assert ([selected.chunk.id for selected in packed.chunks], packed.tokens) == (["c0"], 10)
    assert [(item.chunk_id, item.reason, item.tokens) for item in dropped] == [("c1", "alone above the budget", 11)]


def test_what_the_separator_costs_does_not_make_a_passage_too_large() -> None:
    def count(text: str) -> int:
        return words(text.replace("\n\n", " x y z "))

    packed, others = pack(
        candidates("w " * 9, "w " * 9), [], budget_tokens=10, count=count, settings=SelectionSettings()
    )
    assert (packed.tokens, len(others)) == (10, 1)
    assert (others[0].reason, others[0].tokens) == ("repeats a passage that is packed", 10)


def test_a_worthless_passage_is_not_packed() -> None:
    packed, dropped = pack(
        candidates("a", "b", worths=(1.0, 0.0)), [], budget_tokens=99, count=words, settings=SelectionSettings()
    )
    assert [selected.chunk.id for selected in packed.chunks] == ["c0"]
    assert len(dropped) == 1


def test_nothing_is_packed_from_nothing() -> None:
    packed, dropped = pack([], [], budget_tokens=9, count=words, settings=SelectionSettings())
    assert (packed.chunks, packed.tokens, packed.guaranteed_share, dropped) == ((), 0, 1.0, [])
