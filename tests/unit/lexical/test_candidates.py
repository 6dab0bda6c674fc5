from latence_retrieval.lexical.candidates import best_candidates


def ids(numbers):
    return [f"{1000 - number:04}" for number in numbers]


def chosen(lists, limit, total=1000, allowed=None):
    keyed = [(f"pkey{place:02}", numbers) for place, numbers in enumerate(lists)]
    return best_candidates(keyed, limit, total=total, ids=ids, allowed=allowed)


def test_rare_keys_weigh_more_than_common_ones():
    assert chosen([list(range(100)), [500]], 1) == [500]
    assert chosen([list(range(100)), [500]], 2) == [500, 99]


def test_shared_keys_add_up():
    assert chosen([[1, 2], [2, 3], [2, 4]], 1) == [2]


def test_a_tie_at_the_cut_is_decided_by_id():
    assert chosen([[1, 2, 3]], 2) == [3, 2]


def test_common_keys_lift_candidates_but_open_none_once_rare_ones_have_answered():
    assert chosen([[7], [7], [7], list(range(900))], 5) == [7]


def test_a_candidate_that_could_still_win_is_opened_late():
    assert set(chosen([[7], [8, 9], [8, 9]], 2)) == {8, 9}


def test_a_long_list_alone_is_taken_whole():
    assert set(chosen([list(range(600))], 3)) == {599, 598, 597}


def test_nothing_shared_gives_nothing():
    assert chosen([], 5) == []


def test_a_filter_is_asked_group_by_group_until_there_are_enough():
    asked = []

    def even(numbers):
        asked.append(list(numbers))
        return [number for number in numbers if number % 2 == 0]

    assert chosen([[1, 2, 3], [1, 2], [1]], 1, allowed=even) == [2]
    assert asked == [[1], [2]]


def test_the_telling_kinds_of_keys_weigh_double():
    lists = [("px", [1]), ("py", [1, 3]), ("tz", [2])]
    assert best_candidates(lists, 1, total=1000, ids=ids) == [2]


def test_the_ends_of_very_common_words_do_not_count():
    assert best_candidates([("e<abc", list(range(1001)))], 5, total=10**6, ids=ids) == []
