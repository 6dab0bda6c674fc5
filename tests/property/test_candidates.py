"""Candidates equal a full count of shared keys, whatever lists are skipped on the way."""

from hypothesis import given, settings
from hypothesis import strategies as st

from latence_retrieval.lexical.blocking import key_weight
from latence_retrieval.lexical.candidates import best_candidates

LISTS = st.lists(st.sets(st.integers(0, 60), min_size=1).map(sorted), max_size=8)


def ids(numbers):
    return [f"{(number * 37) % 61:02}" for number in numbers]


def naive(lists, limit, total, allowed):
    weights = sorted(((-key_weight(key, len(held), total), key, held) for key, held in lists))
    sums = {}
    for weight, _, held in weights:
        for number in held:
            sums[number] = sums.get(number, 0.0) - weight
    if allowed is None and sums:
        sums = {number: value for number, value in sums.items() if value >= 0.05 * max(sums.values())}
    kept = [number for number in sums if allowed is None or number in allowed]
    return sorted(kept, key=lambda number: (-sums[number], ids([number])[0]))[:limit]


@settings(deadline=None, max_examples=300)
@given(LISTS, st.text("=pst", min_size=8, max_size=8), st.integers(0, 12), st.none() | st.sets(st.integers(0, 60)))
def test_best_candidates_equal_a_full_count(lists, kinds, limit, allowed):
    keyed = [(f"{kind}{place}", held) for place, (kind, held) in enumerate(zip(kinds, lists, strict=False))]
    asked = None if allowed is None else lambda numbers: [number for number in numbers if number in allowed]

    found = best_candidates(keyed, limit, total=61, ids=ids, allowed=asked)

    assert set(found) == set(naive(keyed, limit, 61, allowed))
