"""Lists by key in bounded memory against plain dictionaries."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latence_retrieval.build.lists import SpilledLists, SpilledRows
from latence_retrieval.sidecar.codec import named_key

BATCHES = st.lists(st.lists(st.tuples(st.text("aé9", max_size=3), st.integers(0, 2**64 - 1)), max_size=6), max_size=8)
ROWS = st.lists(st.lists(st.tuples(st.integers(0, 300), st.binary(max_size=9)), max_size=6), max_size=8)


@pytest.mark.parametrize("max_memory_bytes", [0, 2_000, 1 << 20])
@given(batches=BATCHES)
@settings(max_examples=40, deadline=None)
def test_lists_come_by_key_with_their_numbers_in_the_order_of_adding(
    max_memory_bytes: int, batches: list[list[tuple[str, int]]]
) -> None:
    expected: dict[bytes, list[int]] = {}
    with (
        tempfile.TemporaryDirectory() as directory,
        SpilledLists(Path(directory), max_memory_bytes=max_memory_bytes) as lists,
    ):
        for batch in batches:
            lists.add(batch)
            for name, number in batch:
                expected.setdefault(named_key(name), []).append(number)
        assert [(key, numbers.tolist()) for key, numbers in lists] == sorted(expected.items())


@pytest.mark.parametrize("max_memory_bytes", [0, 2_000, 1 << 20])
@given(batches=ROWS)
@settings(max_examples=40, deadline=None)
def test_rows_come_by_number_and_ascend(max_memory_bytes: int, batches: list[list[tuple[int, bytes]]]) -> None:
    expected: dict[int, list[bytes]] = {}
    with (
        tempfile.TemporaryDirectory() as directory,
        SpilledRows(Path(directory), max_memory_bytes=max_memory_bytes) as rows,
    ):
        for batch in batches:
            rows.add(batch)
            for number, row in batch:
                expected.setdefault(number, []).append(row)
        found = [(number, list(stream)) for number, stream in rows]
    assert found == [(number, sorted(expected[number])) for number in sorted(expected)]
