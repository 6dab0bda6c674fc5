"""What a writer lets through, where rows come in long streams."""

from __future__ import annotations

import pytest

from latence_retrieval.ports.key_value import Key, Table
from latence_retrieval.sidecar.keys import MAX_KEY_BYTES, MAX_NUMBER, ROWS_AT_ONCE, AscendingRows, packed, packed_rows

FAR = 3 * ROWS_AT_ONCE
NUMBERS: list[Key] = list(range(FAR))
NAMES: list[Key] = [b"%06d" % number for number in range(FAR)]


@pytest.mark.parametrize("at", [0, 1, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, FAR - 1])
@pytest.mark.parametrize(
    ("table", "keys", "bad", "error", "words"),
    [
        (Table.CHUNK, NUMBERS, b"x", TypeError, "keyed by numbers"),
        (Table.CHUNK, NUMBERS, True, TypeError, "keyed by numbers"),
        (Table.CHUNK, NUMBERS, -1, ValueError, "out of range"),
        (Table.CHUNK, NUMBERS, MAX_NUMBER + 1, ValueError, "out of range"),
        (Table.TERM, NAMES, 7, TypeError, "keyed by bytes"),
        (Table.TERM, NAMES, b"", ValueError, "out of range"),
        (Table.TERM, NAMES, b"9" * (MAX_KEY_BYTES + 1), ValueError, "out of range"),
    ],
)
def test_a_bad_key_is_told_wherever_it_stands(
    at: int, table: Table, keys: list[Key], bad: Key, error: type[Exception], words: str
) -> None:
    rows = [(key, b"") for key in [*keys[:at], bad, *keys[at + 1 :]]]
    with pytest.raises(error, match=rf"{table.name}.*{words}"):
        list(AscendingRows()(table, rows))


@pytest.mark.parametrize("at", [1, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, FAR - 1])
@pytest.mark.parametrize(("table", "keys"), [(Table.CHUNK, NUMBERS), (Table.TERM, NAMES)])
def test_a_repeated_or_smaller_key_is_told_by_its_value(at: int, table: Table, keys: list[Key]) -> None:
    repeated = [(key, b"") for key in [*keys[:at], keys[at - 1], *keys[at:]]]
    with pytest.raises(ValueError, match=f"key {keys[at - 1]!r} is repeated"):
        list(AscendingRows()(table, repeated))
    fallen = [(key, b"") for key in [*keys[1 : at + 1], keys[0]]]
    with pytest.raises(ValueError, match=f"key {keys[0]!r} (follows|is repeated)"):
        list(AscendingRows()(table, fallen))


@pytest.mark.parametrize(("table", "keys"), [(Table.CHUNK, NUMBERS), (Table.TERM, NAMES)])
def test_rows_pass_in_order_over_several_calls(table: Table, keys: list[Key]) -> None:
    checked = AscendingRows()
    half = FAR // 2
    passed = [
        row
        for part in (keys[:half], keys[half:])
        for batch in checked(table, [(k, b"v") for k in part])
        for row in batch
    ]
    assert passed == [(key, b"v") for key in keys]
    assert [key for key, _ in packed_rows(table, passed)] == [packed(table, key) for key in keys]
