import struct
from collections import Counter

import pytest

from latence_retrieval.errors import InvalidInputError, SidecarCorruptError, SidecarVersionError
from latence_retrieval.lexical import postings
from latence_retrieval.lexical.memory_postings import MemoryPostings
from latence_retrieval.lexical.postings import KeyValuePostings, PostingStats
from latence_retrieval.lexical.postings_writer import PostingsWriter
from latence_retrieval.lexical.terms import ANALYSERS
from latence_retrieval.memory.key_value import MemoryKeyValue
from latence_retrieval.ports.key_value import Table

PLAIN = ANALYSERS["plain-1"]


class CountingReader(MemoryKeyValue):
    """Remembers which keys were read."""

    def __init__(self):
        super().__init__()
        self.batches = []

    def get_many(self, table, keys):
        self.batches.append(list(keys))
        return super().get_many(table, keys)


def published(texts, **settings):
    store = CountingReader()
    with PostingsWriter(analyser=PLAIN, **settings) as writer:
        for number, text in enumerate(texts):
            writer.add(number, text)
        store.put_many(Table.TERM, writer.rows())
    return store


def everything(source, term):
    found = source.lists([term])[0]
    if found is None:
        return None
    return [
        (number, frequency, length)
        for block in source.blocks(found)
        for number, frequency, length in zip(*block.columns(), strict=True)
    ]


def test_a_list_gives_back_what_was_added():
    source = KeyValuePostings(published(["red fox", "blue", "red red hen", ""]))

    assert everything(source, "red") == [(0, 1, 2), (2, 2, 3)]
    assert everything(source, "absent") is None
    assert source.stats == PostingStats(documents=4, total_length=6, analyser="plain-1")


def test_a_list_of_many_blocks_is_read_only_where_it_may_hold_a_chunk():
    store = published(["common"] * 3000)
    source = KeyValuePostings(store)
    found = source.lists(["common"])[0]
    store.batches.clear()

    assert [list(hits) for hits in source.find([found], [3, 2999])] == [[(3, 1, 1), (2999, 1, 1)]]
    assert store.batches == [[b"common\0\0\0\0\0", b"common\0\0\0\0\2"]]


def test_find_skips_numbers_before_between_and_after_the_list():
    texts = ["x"] * 5 + ["common"] * 1200 + ["x"] * 5
    texts[600] = "x"
    source = KeyValuePostings(published(texts))
    found = source.lists(["common"])[0]

    assert list(source.find([found], [0, 4, 600, 1205, 1209])[0]) == []
    assert [hit[0] for hit in source.find([found], [4, 5, 1204, 1205])[0]] == [5, 1204]


def test_all_lists_are_looked_up_in_two_batches():
    store = published(["alpha beta"] * 1600 + ["gamma"])
    source = KeyValuePostings(store)

    source.find([entry for entry in source.lists(["alpha", "beta", "gamma"]) if entry], [0, 1599, 1600])

    assert len(store.batches) == 2


def test_spilled_runs_give_the_same_rows_as_memory(tmp_path):
    texts = [" ".join(f"w{(number * step) % 97}x" for step in range(1, 30)) for number in range(900)]

    spilled = published(texts, buffer_bytes=1 << 16, directory=tmp_path)
    resident = published(texts)

    assert list(spilled.scan(Table.TERM)) == list(resident.scan(Table.TERM))
    assert list(tmp_path.iterdir()) == []


def test_a_list_spread_thin_and_a_list_spread_thick_are_found_alike():
    texts = ["x"] * 900
    thin, thick = range(0, 900, 45), range(3, 900, 2)
    for number in thin:
        texts[number] += " thin"
    for number in thick:
        texts[number] += " thick thick"
    source = KeyValuePostings(published(texts))

    for term, held in (("thin", thin), ("thick", thick)):
        assert [posting[0] for posting in everything(source, term)] == list(held)
        found = source.lists([term])[0]
        for step in (1, 7, 200):
            asked = range(0, 900, step)
            assert [hit[0] for hit in source.find([found], asked)[0]] == [n for n in asked if n in held]


def test_rows_ascend_where_one_term_is_the_beginning_of_another():
    keys = [key for key, _ in published(["a ab b", "ab", "a"]).scan(Table.TERM)]
    assert keys == sorted(keys)
    assert len(keys) == 1 + 3


@pytest.mark.parametrize("numbers", [(1, 1), (2, 1), (-1,), (1 << 32,)])
def test_numbers_that_do_not_ascend_are_refused(numbers):
    writer = PostingsWriter(analyser=PLAIN)
    for number in numbers[:-1]:
        writer.add(number, "word")
    with pytest.raises(InvalidInputError, match="ascending"):
        writer.add(numbers[-1], "word")


def test_a_buffer_too_small_to_work_in_is_refused():
    with pytest.raises(InvalidInputError, match="buffer_bytes"):
        PostingsWriter(analyser=PLAIN, buffer_bytes=10)


def test_frequencies_and_lengths_past_one_and_two_bytes_stay_exact():
    long = "many " * 70_000
    source = KeyValuePostings(published(["many", long, "many " * 300]))
    assert everything(source, "many") == [(0, 1, 1), (1, 70_000, 70_000), (2, 300, 300)]


def test_a_term_longer_than_a_key_is_found_and_kept_apart_from_its_neighbour():
    first, second = "a" * 5000, "a" * 4999 + "b"
    source = KeyValuePostings(published([first, second]))
    assert everything(source, first) == [(0, 1, 1)]
    assert everything(source, second) == [(1, 1, 1)]
    assert len(postings.head_key(postings.term_bytes(first))) <= 480


def test_impacts_keep_what_no_posting_beats():
    assert postings.impacts_of({1: 10, 2: 12, 3: 12, 5: 40}) == [(5, 40), (3, 12), (1, 10)]


def test_impacts_past_the_limit_are_bounded_by_their_best_corner():
    kept = postings.impacts_of({frequency: frequency for frequency in range(1, 101)})
    assert len(kept) == 24
    assert kept[-1] == (77, 1)


def test_an_empty_corpus_has_statistics_that_divide():
    source = KeyValuePostings(published([]))
    assert source.stats.average_length == 1.0
    assert source.lists(["word"]) == [None]


def test_a_snapshot_without_postings_reads_as_empty():
    source = KeyValuePostings(MemoryKeyValue())
    assert source.stats.documents == 0
    assert source.lists(["word"]) == [None]


def test_a_newer_format_is_refused():
    store = MemoryKeyValue()
    store.put_many(Table.TERM, [(postings.STATS_KEY, struct.pack("<BQQ", 99, 1, 1))])
    with pytest.raises(SidecarVersionError, match="format 99"):
        KeyValuePostings(store)


def test_a_missing_block_is_named():
    store = MemoryKeyValue()
    rows = [row for row in published(["common"] * 1600).scan(Table.TERM) if row[0] != b"common\0\0\0\0\1"]
    store.put_many(Table.TERM, rows)
    with pytest.raises(SidecarCorruptError, match="common"):
        everything(KeyValuePostings(store), "common")


def test_memory_postings_follow_additions_and_removals():
    memory = MemoryPostings(analyser=PLAIN)
    for number, text in enumerate(["red fox", "red", "hen"]):
        memory.add(number, text)
    memory.remove(0, "red fox")

    assert everything(memory, "red") == [(1, 1, 1)]
    assert everything(memory, "fox") is None
    assert memory.stats == PostingStats(documents=2, total_length=2, analyser="plain-1")
    with pytest.raises(InvalidInputError, match="ascending"):
        memory.add(2, "again")


def test_memory_and_published_lists_are_the_same():
    texts = ["red fox and red hen", "a fox", "", "hen hen hen"]
    memory = MemoryPostings(analyser=PLAIN)
    for number, text in enumerate(texts):
        memory.add(number, text)
    source = KeyValuePostings(published(texts))

    for term in Counter(" ".join(texts).split()):
        assert everything(source, term) == everything(memory, term)
        assert source.lists([term])[0].impacts == memory.lists([term])[0].impacts
    assert source.stats == memory.stats
