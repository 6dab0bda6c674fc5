"""Blocks of postings, decoded no further than a look-up needs.

A sparse block lists its chunks: offsets from its first chunk number, frequencies and lengths, each column in the
narrowest of 1, 2 or 4 bytes. A dense block, for terms of every third chunk or more, has one byte of frequency
for each chunk from its first to its last (0: the term is not there) and the lengths as a plane of low bytes and,
where one exceeds 255, a plane of high bytes; so the words that are everywhere are looked up without a search.

    row = base (u32), count or span (u16), three codes: of offsets ("-" if dense), frequencies, lengths; columns
"""

from __future__ import annotations

import struct
import sys
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from itertools import compress
from typing import Protocol

__all__ = [
    "BLOCK_SIZE",
    "DenseBlock",
    "PostingBlock",
    "SparseBlock",
    "decode_block",
    "encode_block",
    "pack_column",
    "unpack_column",
]

BLOCK_SIZE = 1024
"""Postings a block. Of 256, 512, 1024 and 2048, the one that scores 60 chunks of 10,000 quickest (adr/0012)."""

_STRUCT = struct.Struct("<IHccc")
_WIDTHS = {b"H": 2, b"I": 4}
_CODES = {code: code.encode() for code in "BHI"}
_DENSE_SPAN = 3
_SCAN_RATIO = 16  # a step of a set intersection costs a sixteenth of a binary search, measured
_SWAP = sys.byteorder == "big"

Columns = tuple[Sequence[int], Sequence[int], Sequence[int]]
"""Chunk numbers, frequencies and lengths: parallel, ascending by chunk number."""


class PostingBlock(Protocol):
    """Some postings of a list, ascending by chunk number."""

    def columns(self) -> Columns:
        """Return all of them."""
        ...

    def find(self, numbers: Sequence[int]) -> list[tuple[int, int, int]]:
        """Return (chunk number, frequency, length) of those of `numbers` (ascending, one or more) that are here."""
        ...


class SparseBlock:
    """Lists its chunks."""

    __slots__ = ("base", "frequencies", "lengths", "offsets")

    def __init__(self, base: int, offsets: Sequence[int], frequencies: Sequence[int], lengths: Sequence[int]) -> None:
        """Take parallel columns; a chunk number is `base` plus its offset."""
        self.base = base
        self.offsets = offsets
        self.frequencies = frequencies
        self.lengths = lengths

    def columns(self) -> Columns:
        """Return all postings."""
        base = self.base
        numbers = [base + offset for offset in self.offsets] if base else self.offsets
        return numbers, self.frequencies, self.lengths

    def find(self, numbers: Sequence[int]) -> list[tuple[int, int, int]]:
        """Intersect where the block is short for so many numbers, search where it is long."""
        base, offsets, frequencies, lengths = self.base, self.offsets, self.frequencies, self.lengths
        asked: Sequence[int] = [number - base for number in numbers] if base else numbers
        if len(offsets) < _SCAN_RATIO * len(asked):
            asked = sorted(set(asked).intersection(offsets))
        found: list[tuple[int, int, int]] = []
        place, count = 0, len(offsets)
        for offset in asked:
            place = bisect_left(offsets, offset, place)
            if place == count:
                break
            if offsets[place] == offset:
                found.append((base + offset, frequencies[place], lengths[place]))
        return found


class DenseBlock:
    """Has a place for every chunk from the first to the last; reads the row's bytes as they are."""

    __slots__ = ("base", "span", "start", "value", "wide")

    def __init__(self, value: bytes, start: int, base: int, span: int, *, wide: bool) -> None:
        """Take a row whose planes begin at byte `start`; `wide` says that lengths have high bytes."""
        self.value = value
        self.start = start
        self.base = base
        self.span = span
        self.wide = wide

    def columns(self) -> Columns:
        """Return all postings."""
        value, base, span, start = self.value, self.base, self.span, self.start
        frequencies = value[start : start + span]
        lengths: Sequence[int] = bytes(compress(value[start + span : start + 2 * span], frequencies))
        if self.wide:
            high = compress(value[start + 2 * span : start + 3 * span], frequencies)
            lengths = [low | more << 8 for low, more in zip(lengths, high, strict=True)]
        numbers = list(compress(range(base, base + span), frequencies))
        return numbers, frequencies.translate(None, b"\0"), lengths

    def find(self, numbers: Sequence[int]) -> list[tuple[int, int, int]]:
        """Look each number up where it must be."""
        base, value = self.base, self.value
        if numbers[0] < base:
            numbers = numbers[bisect_left(numbers, base) :]
        if numbers and numbers[-1] >= base + self.span:
            numbers = numbers[: bisect_left(numbers, base + self.span)]
        shift = self.start - base
        low = shift + self.span
        if not self.wide:
            return [
                (number, frequency, value[number + low]) for number in numbers if (frequency := value[number + shift])
            ]
        high = low + self.span
        return [
            (number, frequency, value[number + low] | value[number + high] << 8)
            for number in numbers
            if (frequency := value[number + shift])
        ]


def encode_block(numbers: Sequence[int], frequencies: Sequence[int], lengths: Sequence[int]) -> bytes:
    """Return the row of parallel columns, ascending by chunk number, one to `BLOCK_SIZE` long."""
    base = numbers[0]
    span = numbers[-1] - base + 1
    if span == 1 and frequencies[0] < 1 << 8 and lengths[0] < 1 << 8:  # what `_dense` gives, for half of all terms
        return _STRUCT.pack(base, 1, b"-", b"B", b"B") + bytes((frequencies[0], lengths[0]))
    if span <= _DENSE_SPAN * len(numbers) and max(frequencies) < 1 << 8 and max(lengths) < 1 << 16:
        return _dense(base, span, numbers, frequencies, lengths)
    if numbers[-1] < 1 << 16:
        base = 0  # the numbers fit as they are, and need no sum when they are read
    columns = [
        _narrow([number - base for number in numbers] if base else numbers),
        _narrow(frequencies),
        _narrow(lengths),
    ]
    codes = [_CODES[column.typecode] for column in columns]
    return _STRUCT.pack(base, len(numbers), *codes) + b"".join(map(pack_column, columns))


def _dense(base: int, span: int, numbers: Sequence[int], frequencies: Sequence[int], lengths: Sequence[int]) -> bytes:
    planes = [bytearray(span), bytearray(span), bytearray(span)]
    for number, frequency, length in zip(numbers, frequencies, lengths, strict=True):
        place = number - base
        planes[0][place] = frequency
        planes[1][place] = length & 0xFF
        planes[2][place] = length >> 8
    wide = any(planes[2])
    row = _STRUCT.pack(base, span, b"-", b"B", b"H" if wide else b"B")
    return row + b"".join(planes if wide else planes[:2])


def decode_block(value: bytes, start: int) -> PostingBlock:
    """Read the block that starts at byte `start`."""
    base, count, offset_code, frequency_code, length_code = _STRUCT.unpack_from(value, start)
    start += _STRUCT.size
    if offset_code == b"-":
        return DenseBlock(value, start, base, count, wide=length_code == b"H")
    offsets, start = _column(value, start, count, offset_code)
    frequencies, start = _column(value, start, count, frequency_code)
    lengths, _ = _column(value, start, count, length_code)
    return SparseBlock(base, offsets, frequencies, lengths)


def _column(value: bytes, start: int, count: int, code: bytes) -> tuple[Sequence[int], int]:
    """Return the column that starts at byte `start`, and where it ends; one byte a value needs no decoding."""
    if code == b"B":
        return value[start : start + count], start + count
    end = start + count * _WIDTHS[code]
    return unpack_column(code.decode("ascii"), value[start:end]), end


def _narrow(values: Sequence[int]) -> array[int]:
    highest = max(values)
    return array("B" if highest < 1 << 8 else "H" if highest < 1 << 16 else "I", values)


def pack_column(values: array[int]) -> bytes:
    """Return the values as little-endian bytes."""
    if _SWAP:
        values = array(values.typecode, values)
        values.byteswap()
    return values.tobytes()


def unpack_column(code: str, value: bytes) -> array[int]:
    """Read little-endian bytes as an array of that type code."""
    values: array[int] = array(code)
    values.frombytes(value)
    if _SWAP:
        values.byteswap()
    return values
