"""Packed records of the tables: little-endian 32-bit numbers, decoded by one copy each.

Confidences, priors and probabilities are stored in millionths, so that every backend and machine reads back the
same number. An entity's number of chunks is stored as one byte on a logarithmic scale where it only damps a weight.
"""

from __future__ import annotations

import hashlib
import math
import sys
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum, IntFlag
from functools import lru_cache, partial
from typing import NamedTuple, cast

__all__ = [
    "ANY_SENTENCE",
    "EDGES_PER_BLOCK",
    "LOG_DEGREE_DAMPING",
    "MILLION",
    "NO_EDGE",
    "TITLE_MASK",
    "AliasFlag",
    "AliasForm",
    "Candidate",
    "ChunkLinks",
    "EdgeKind",
    "IncidenceBlock",
    "decode_alias",
    "decode_incidence",
    "decode_links",
    "decode_term_sentences",
    "encode_alias",
    "encode_incidence",
    "encode_links",
    "encode_term_sentences",
    "incidence_degree",
    "incidence_key",
    "log_degree",
    "named_key",
    "pack_numbers",
    "packed_dot",
    "sentence_mask",
    "unpack_numbers",
    "unpacked_dot",
]

EDGES_PER_BLOCK = 128
"""Hyperedges per incidence block: a hub is read in one block of some 4 KB, whatever its degree."""

NO_EDGE = 0xFFFFFFFF
"""Stands for the number of a fact in hyperedges that are not facts."""

ANY_SENTENCE = 0xFFFFFFFF
"""The sentence mask of an entity that the input links to the chunk as a whole."""

TITLE_MASK = 1
"""The sentence mask of a chunk's title."""

MILLION = 1_000_000
_DOT_SCALE = 1e7
_LONGEST_PLAIN_KEY = 400  # bytes; LMDB allows 511, block suffixes and table prefixes need a few


class AliasFlag(IntFlag):
    """How a form came about, kept with each candidate."""

    NAME = 1  # the preferred name
    VARIANT = 2  # derived here rather than given
    CASED = 4  # written as a name: an occurrence in lower case is weak evidence
    DISCOVERED = 8  # of an entity that the builder found
    ACRONYM = 16  # derived initials: only an occurrence in capitals counts


class EdgeKind(IntEnum):
    """What a hyperedge is to the entity whose record it stands in."""

    ABOUT = 0  # a chunk's set of mentions, seen from the entity that the chunk is about
    FACT = 1  # a typed statement
    MENTION = 2  # what one sentence ties, and the chunk's subject


_ABOUT, _MENTION = int(EdgeKind.ABOUT), int(EdgeKind.MENTION)  # their labels too: both have relation 0


class Candidate(NamedTuple):
    """One entity that a form may stand for; `flags` are `AliasFlag` bits."""

    entity: int
    prior: float
    flags: int


class AliasForm(NamedTuple):
    """All that a normalised form may stand for.

    `link_probability` is the part of the form's occurrences in the corpus that are written as a name;
    `chunk_frequency` is in how many chunks its candidates occur.
    """

    link_probability: float
    chunk_frequency: int
    candidates: tuple[Candidate, ...]


class IncidenceBlock(NamedTuple):
    """Up to `EDGES_PER_BLOCK` hyperedges of one entity: first those of chunks about it, then facts, then mentions.

    Parallel per hyperedge: `chunks`, `labels` (relation * 4 + kind; what is no fact has relation 0), `confidences`
    (millionths), and `marks`: the fact's number for a fact, the mask of the sentences that name the entity for a mention. The other members of the i-th fact
    hyperedge (0 for all else) are `members[ends[i-1]:ends[i]]`, each as number * 2 + discovered bit, with
    `log_degrees` parallel. The members of a chunk's hyperedge stand with the chunk (`ChunkLinks`).
    `dots` is the dot product of the entity's vector with the chunk's, as `packed_dot` packs it.
    `degree` counts the hyperedges of all blocks; the facts of this one are those from `facts_from` to `facts_to`.
    """

    degree: int
    facts_from: int
    facts_to: int
    marks: Sequence[int]
    chunks: Sequence[int]
    labels: Sequence[int]
    confidences: Sequence[int]
    dots: Sequence[int]
    ends: Sequence[int]
    members: Sequence[int]
    log_degrees: bytes

    @property
    def kinds(self) -> list[int]:
        """The `EdgeKind` of each hyperedge."""
        return [label & 3 for label in self.labels]

    @property
    def relations(self) -> list[int]:
        """The relation of each hyperedge."""
        return [label >> 2 for label in self.labels]


_block = cast(
    "Callable[[tuple[object, ...]], IncidenceBlock]", partial(tuple.__new__, IncidenceBlock)
)  # twice as quick


class ChunkLinks(NamedTuple):
    """The entities of one chunk: its subjects, then its mentions, each as number * 2 + discovered bit.

    `masks` says which sentences name an entity (`sentence_mask`); parallel to `entities`, as is `log_degrees`.
    The first `subjects` entities are those that the chunk is about.
    """

    subjects: int
    entities: array[int]
    masks: array[int]
    log_degrees: bytes


def sentence_mask(sentence: int) -> int:
    """Return the bit of a sentence: bit 0 is the title, sentence 0 is bit 1, the 31st and all later share bit 31."""
    return 1 << min(31, sentence + 1)


def packed_dot(dot: float | None) -> int:
    """Return a dot product of unit vectors as a number above 0; 0 where a vector is absent."""
    return 0 if dot is None else round((dot + 2.0) * _DOT_SCALE)


def unpacked_dot(packed: int) -> float:
    """Return the dot product to 7 decimals; `packed` is not 0 (which says that a vector was absent)."""
    return packed / _DOT_SCALE - 2.0


@lru_cache(maxsize=4_096)
def log_degree(count: int) -> int:
    """Return a count of chunks on the byte scale: round(12 · ln(1 + count)), at most 255 (some 1.7·10⁹)."""
    return min(255, round(12.0 * math.log1p(count)))


LOG_DEGREE_DAMPING: tuple[float, ...] = tuple(1.0 / math.log(2.0 + math.expm1(byte / 12.0)) for byte in range(256))
"""1 / ln(2 + n) for the count n behind each byte: how much of a walk's mass a common entity may draw."""


def named_key(text: str) -> bytes:
    """Return the key of a name; long names keep a prefix and a digest (128 bits: collisions are refused at build)."""
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) <= _LONGEST_PLAIN_KEY:
        return raw
    return raw[: _LONGEST_PLAIN_KEY - 40] + b"\x00#" + hashlib.sha256(raw).digest()


def incidence_key(entity: int, block: int) -> bytes:
    """Return the key of an entity's incidence block; big-endian, so that blocks stand in order."""
    return entity.to_bytes(4, "big") + block.to_bytes(4, "big")


def encode_alias(form: AliasForm) -> bytes:
    """Pack a form; candidates in the order given."""
    numbers = [round(form.link_probability * MILLION), form.chunk_frequency, len(form.candidates)]
    for candidate in form.candidates:
        numbers += (candidate.entity, round(candidate.prior * MILLION), candidate.flags)
    return pack_numbers(numbers)


def decode_alias(blob: bytes) -> AliasForm:
    """Unpack what `encode_alias` packed."""
    numbers = unpack_numbers(blob)
    candidates = tuple(
        Candidate(numbers[at], numbers[at + 1] / MILLION, numbers[at + 2]) for at in range(3, 3 + 3 * numbers[2], 3)
    )
    return AliasForm(numbers[0] / MILLION, numbers[1], candidates)


def encode_incidence(
    degree: int,
    columns: Sequence[Sequence[int]],
    members: Sequence[int],
    log_degrees: bytes,
    is_discovered: bytes | bytearray,
) -> bytes:
    """Pack one block.

    Args:
        degree: how many hyperedges the entity has in all blocks.
        columns: marks, chunks, labels (relation * 4 + kind), confidences in millionths, packed dots, and where each
            hyperedge's members end; parallel, in order.
        members: entity numbers.
        log_degrees: byte per entity number.
        is_discovered: 0 or 1 per entity number.
    """
    labels = columns[2]
    abouts, mentions = labels.count(_ABOUT), labels.count(_MENTION)
    numbers = array("I", [degree, len(labels), len(members), abouts, len(labels) - mentions])
    for column in columns:
        numbers.extend(column)
    numbers.extend([member << 1 | is_discovered[member] for member in members])
    return pack_numbers(numbers) + bytes(map(log_degrees.__getitem__, members))


def decode_incidence(blob: bytes) -> IncidenceBlock:
    """Unpack what `encode_incidence` packed.

    Raises:
        ValueError: the counts are not those of the columns.
    """
    numbers = unpack_numbers(blob[: len(blob) & -4])  # whole words: the last few may be bytes of degrees
    degree, n, count, facts_from, facts_to = numbers[:5]
    chunks = 5 + n
    labels = chunks + n
    confidences = labels + n
    dots = confidences + n
    ends = dots + n
    members = ends + n
    end = members + count
    if not facts_from <= facts_to <= n or end > len(numbers):
        raise ValueError(f"{n} hyperedges with facts from {facts_from} to {facts_to} in {len(numbers)} words")
    return _block(
        (
            degree,
            facts_from,
            facts_to,
            numbers[5:chunks],
            numbers[chunks:labels],
            numbers[labels:confidences],
            numbers[confidences:dots],
            numbers[dots:ends],
            numbers[ends:members],
            numbers[members:end],
            blob[4 * end :],
        )
    )


def incidence_degree(blob: bytes) -> int:
    """Return how many hyperedges the entity of an `encode_incidence` block has in all blocks."""
    return int.from_bytes(blob[:4], "little")


def encode_links(
    subjects: Sequence[int],
    mentions: Mapping[int, int],
    log_degrees: Sequence[int] | bytes | bytearray,
    is_discovered: Sequence[int] | bytes | bytearray,
) -> bytes:
    """Pack a chunk's entities; `mentions` maps an entity to its sentence mask, in order of first mention."""
    entities = [*subjects, *mentions]
    numbers = [len(subjects), len(entities)]
    numbers += [entity << 1 | is_discovered[entity] for entity in entities]
    numbers += [ANY_SENTENCE] * len(subjects)
    numbers += mentions.values()
    return pack_numbers(numbers) + bytes([log_degrees[entity] for entity in entities])


def decode_links(blob: bytes) -> ChunkLinks:
    """Unpack what `encode_links` packed."""
    numbers = unpack_numbers(blob[: len(blob) & -4])  # whole words: the last few may be bytes of degrees
    end = 2 + numbers[1]
    masks_end = end + numbers[1]
    return ChunkLinks(numbers[0], numbers[2:end], numbers[end:masks_end], blob[4 * masks_end :])


def encode_term_sentences(chunks: array[int], masks: array[int]) -> bytes:
    """Pack the chunks of one content term, ascending, and the sentence mask of each."""
    return pack_numbers(chunks + masks)


def decode_term_sentences(blob: bytes) -> dict[int, int]:
    """Unpack what `encode_term_sentences` packed: sentence mask by chunk."""
    numbers = unpack_numbers(blob)
    half = len(numbers) // 2
    return dict(zip(numbers[:half], numbers[half:], strict=True))


def pack_numbers(numbers: Iterable[int]) -> bytes:
    """Return numbers as little-endian 32-bit words."""
    packed = array("I", numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack_numbers(blob: bytes) -> array[int]:
    """Return the 32-bit little-endian words of `blob`."""
    numbers = array("I")
    numbers.frombytes(blob)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers
