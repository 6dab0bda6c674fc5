"""Packed records: what was packed is read back, on any machine."""

from __future__ import annotations

import math
from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latence_retrieval.ports.key_value import Table
from latence_retrieval.sidecar.codec import (
    LOG_DEGREE_DAMPING,
    MILLION,
    AliasForm,
    Candidate,
    EdgeKind,
    decode_alias,
    decode_incidence,
    decode_links,
    decode_term_sentences,
    encode_alias,
    encode_incidence,
    encode_links,
    encode_term_sentences,
    incidence_key,
    log_degree,
    named_key,
    pack_numbers,
    packed_dot,
    sentence_mask,
    unpack_numbers,
    unpacked_dot,
)
from latence_retrieval.sidecar.keys import MAX_KEY_BYTES, is_storable

WORD = st.integers(0, 2**32 - 1)
NUMBER = st.integers(0, 99)
MILLIONTHS = st.integers(0, MILLION).map(lambda value: value / MILLION)


@given(st.lists(WORD))
def test_numbers_come_back(numbers: list[int]) -> None:
    assert unpack_numbers(pack_numbers(numbers)).tolist() == numbers
    assert pack_numbers([1, 258]) == b"\x01\x00\x00\x00\x02\x01\x00\x00"


@given(MILLIONTHS, WORD, st.lists(st.builds(Candidate, WORD, MILLIONTHS, st.integers(0, 31))))
def test_alias_forms_come_back(probability: float, frequency: int, candidates: list[Candidate]) -> None:
    form = AliasForm(probability, frequency, tuple(candidates))
    assert decode_alias(encode_alias(form)) == form


EDGES = st.lists(
    st.tuples(
        WORD,
        WORD,
        st.sampled_from(EdgeKind),
        st.integers(0, 2**30 - 1),
        st.integers(0, MILLION),
        WORD,
        st.lists(NUMBER, max_size=4),
    ),
    max_size=8,
)


@given(WORD, EDGES, st.binary(min_size=100, max_size=100), st.lists(st.integers(0, 1), min_size=100, max_size=100))
@settings(max_examples=50)
def test_incidence_blocks_come_back(
    degree: int, edges: list[tuple[int, ...]], degrees: bytes, discovered: list[int]
) -> None:
    rows = [
        (mark, chunk, relation << 2 | kind, confidence, dot)
        for mark, chunk, kind, relation, confidence, dot, _ in edges
    ]
    ends = list(accumulate(len(edge[6]) for edge in edges))  # type: ignore[arg-type]
    packed_columns = [*([row[at] for row in rows] for at in range(5)), ends]
    everyone = [member for edge in edges for member in edge[6]]  # type: ignore[attr-defined]
    block = decode_incidence(encode_incidence(degree, packed_columns, everyone, degrees, bytes(discovered)))
    columns = [block.marks, block.chunks, block.kinds, block.relations, block.confidences, block.dots]
    start = 0
    for at, edge in enumerate(edges):
        assert tuple(column[at] for column in columns) == edge[:6]
        members = edge[6]
        stop = block.ends[at]
        assert [packed >> 1 for packed in block.members[start:stop]] == members
        assert [packed & 1 for packed in block.members[start:stop]] == [discovered[member] for member in members]  # type: ignore[attr-defined]
        assert list(block.log_degrees[start:stop]) == [degrees[member] for member in members]  # type: ignore[attr-defined]
        start = stop
    assert (block.degree, len(block.chunks)) == (degree, len(edges))
    labels = packed_columns[2]
    assert block.facts_from == labels.count(EdgeKind.ABOUT)
    assert block.facts_to == len(labels) - labels.count(EdgeKind.MENTION)


@given(
    st.lists(NUMBER, unique=True, max_size=4),
    st.dictionaries(NUMBER, WORD, max_size=6),
    st.binary(min_size=100, max_size=100),
)
@settings(max_examples=50)
def test_chunk_links_come_back(subjects: list[int], mentions: dict[int, int], degrees: bytes) -> None:
    links = decode_links(encode_links(subjects, mentions, degrees, bytes(100)))
    assert links.subjects == len(subjects)
    assert [packed >> 1 for packed in links.entities] == [*subjects, *mentions]
    assert links.masks[len(subjects) :].tolist() == list(mentions.values())
    assert list(links.log_degrees) == [degrees[entity] for entity in (*subjects, *mentions)]


@given(st.lists(st.tuples(WORD, WORD)))
def test_term_sentences_come_back(pairs: list[tuple[int, int]]) -> None:
    packed = encode_term_sentences([chunk for chunk, _ in pairs], [mask for _, mask in pairs])
    assert decode_term_sentences(packed) == dict(pairs)


@given(st.floats(-1.0, 1.0))
def test_dots_come_back_to_seven_decimals_and_are_never_taken_for_absent(dot: float) -> None:
    assert packed_dot(dot) > 0
    assert unpacked_dot(packed_dot(dot)) == pytest.approx(dot, abs=1e-7)
    assert packed_dot(None) == 0


@given(st.text(max_size=900), st.text(max_size=900))
def test_keys_fit_every_store_and_tell_names_apart(left: str, right: str) -> None:
    for text in (left, right):
        assert len(named_key(text)) <= MAX_KEY_BYTES
        assert is_storable(named_key(text)) == bool(text)
    assert (named_key(left) == named_key(right)) == (left == right)


def test_long_keys_that_share_their_beginning_differ() -> None:
    assert named_key("x" * 900 + "a") != named_key("x" * 900 + "b")
    assert named_key("x" * 400) == b"x" * 400


def test_blocks_of_an_entity_stand_in_order() -> None:
    keys = [incidence_key(entity, block) for entity in (0, 1, 255, 256, 2**32 - 1) for block in (0, 1, 256)]
    assert keys == sorted(keys)
    assert not Table.INCIDENCE.is_numbered


def test_a_sentence_has_its_bit_and_the_last_bit_is_shared() -> None:
    masks = [sentence_mask(sentence) for sentence in range(100)]
    assert masks[:30] == [1 << (n + 1) for n in range(30)]
    assert set(masks[30:]) == {1 << 31}


def test_degrees_on_the_byte_scale_keep_their_order_and_damp_as_they_should() -> None:
    counts = [0, 1, 2, 5, 10, 100, 1000, 10**6, 10**9, 2**32 - 1]
    found = [log_degree(count) for count in counts]
    assert found == sorted(found)
    assert found[0] == 0
    assert max(found) <= 255
    for count in counts[:-1]:
        assert LOG_DEGREE_DAMPING[log_degree(count)] == pytest.approx(1.0 / math.log(2.0 + count), rel=0.05)
