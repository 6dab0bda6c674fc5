from latence_retrieval.lexical.candidates import best_candidates


def ids(numbers):
    return [f"{1000 - number:04}" for number in numbers]


def chosen(lists, limit, total=1000):
    return best_candidates(lists, limit, total=total, ids=ids)


def test_rare_keys_weigh_more_than_common_ones():
    assert chosen([list(range(100)), [500]], 1) == [500]


def test_shared_keys_add_up():
    assert chosen([[1, 2], [2, 3], [2, 4]], 1) == [2]


def test_a_tie_at_the_cut_is_decided_by_id():
    assert chosen([[1, 2, 3]], 2) == [3, 2]


def test_a_long_list_lifts_candidates_but_opens_none_once_they_cannot_win():
    long = list(range(600))
    assert chosen([[7], [7], [7], long], 1, total=700) == [7]


def test_a_long_list_alone_is_taken_whole():
    assert set(chosen([list(range(600))], 3)) == {599, 598, 597}


def test_nothing_shared_gives_nothing():
    assert chosen([], 5) == []
