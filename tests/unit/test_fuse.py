import pytest

from latence_retrieval.fuse import RRF_K, reciprocal_rank_fusion


def test_ranks_count_from_one():
    assert reciprocal_rank_fusion([["a", "b"]]) == [("a", 1 / 61), ("b", 1 / 62)]
    assert RRF_K == 60


def test_two_rankings_that_agree_sum_rather_than_take_the_best():
    fused = dict(reciprocal_rank_fusion([["a", "x"], ["b", "x"]]))
    assert fused["x"] == 2 / 62
    assert fused["x"] > fused["a"] == fused["b"]


def test_an_id_at_the_same_rank_in_both_gets_twice_its_reciprocal():
    assert dict(reciprocal_rank_fusion([["a"], ["a"]])) == {"a": 2 / 61}


def test_equal_scores_are_ordered_by_ascending_id():
    assert [pair[0] for pair in reciprocal_rank_fusion([["b", "d"], ["a", "c"]])] == ["a", "b", "c", "d"]


def test_a_repeated_id_counts_once_at_its_best_rank_and_takes_no_rank_from_others():
    assert reciprocal_rank_fusion([["a", "a", "b"]]) == reciprocal_rank_fusion([["a", "b"]])


@pytest.mark.parametrize("rankings", [[["a", "b"], []], [[], ["a", "b"]], [[], ["a", "b"], []]])
def test_an_empty_ranking_shifts_nothing(rankings):
    assert reciprocal_rank_fusion(rankings) == reciprocal_rank_fusion([["a", "b"]])


def test_three_rankings_fuse_and_their_order_does_not_matter():
    rankings = [["a", "b", "c"], ["c", "a"], ["b", "c", "a"]]
    fused = reciprocal_rank_fusion(rankings)
    assert dict(fused)["a"] == pytest.approx(1 / 61 + 1 / 62 + 1 / 63)
    assert fused == reciprocal_rank_fusion(rankings[::-1])


@pytest.mark.parametrize("rankings", [[], [[]], [[], []]])
def test_nothing_to_fuse_gives_nothing(rankings):
    assert reciprocal_rank_fusion(rankings) == []
