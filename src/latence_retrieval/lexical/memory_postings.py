"""Posting lists in memory that follow a corpus as chunks come and go: the reference for `PostingSource`."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from latence_retrieval.errors import InvalidInputError
from latence_retrieval.lexical.posting_blocks import PostingBlock, SparseBlock
from latence_retrieval.lexical.postings import PostingList, PostingStats, impacts_of
from latence_retrieval.lexical.terms import Analyser

__all__ = ["MemoryPostings"]


def _column() -> array[int]:
    return array("I")


@dataclass(slots=True)
class _Columns:
    offsets: array[int] = field(default_factory=_column)
    frequencies: array[int] = field(default_factory=_column)
    lengths: array[int] = field(default_factory=_column)
    least_lengths: dict[int, int] = field(default_factory=dict)  # by frequency; an upper bound after removals


class MemoryPostings:
    """One block a term, kept exact through additions and removals. Not locked: its owner serialises calls."""

    def __init__(self, *, analyser: Analyser) -> None:
        """Start empty."""
        self.analyser = analyser
        self._columns: dict[str, _Columns] = {}
        self._last_number = -1
        self._documents = 0
        self._total_length = 0

    @property
    def stats(self) -> PostingStats:
        """Statistics of the chunks that are here now."""
        return PostingStats(self._documents, self._total_length, self.analyser.name)

    def add(self, number: int, text: str) -> None:
        """Index a chunk under a number above every one that was ever added.

        Raises:
            InvalidInputError: the number does not ascend.
        """
        if number <= self._last_number:
            raise InvalidInputError("number", f"is {number} after {self._last_number}", fix="add by ascending number")
        terms = self.analyser.terms(text)
        length = len(terms)
        for term, frequency in Counter(terms).items():
            columns = self._columns.setdefault(term, _Columns())
            columns.offsets.append(number)
            columns.frequencies.append(frequency)
            columns.lengths.append(length)
            known = columns.least_lengths.get(frequency)
            if known is None or length < known:
                columns.least_lengths[frequency] = length
        self._last_number = number
        self._documents += 1
        self._total_length += length

    def remove(self, number: int, text: str) -> None:
        """Take out a chunk that was added with this very text."""
        terms = self.analyser.terms(text)
        for term in set(terms):
            columns = self._columns[term]
            place = bisect_left(columns.offsets, number)
            for column in (columns.offsets, columns.frequencies, columns.lengths):
                del column[place]
            if not columns.offsets:
                del self._columns[term]
        self._documents -= 1
        self._total_length -= len(terms)

    def lists(self, terms: Sequence[str]) -> list[PostingList | None]:
        """Return each term's list, inline."""
        found: list[PostingList | None] = []
        for term in terms:
            columns = self._columns.get(term)
            if columns is None:
                found.append(None)
                continue
            impacts = impacts_of(columns.least_lengths)
            block = SparseBlock(0, columns.offsets, columns.frequencies, columns.lengths)
            found.append(PostingList(term, len(columns.offsets), impacts, block))
        return found

    def blocks(self, posting_list: PostingList) -> Iterator[PostingBlock]:
        """Yield the one block."""
        if posting_list.inline is not None:
            yield posting_list.inline

    def find(
        self, posting_lists: Sequence[PostingList], numbers: Sequence[int]
    ) -> list[Iterable[tuple[int, int, int]]]:
        """Look the numbers up in each list."""
        return [
            posting_list.inline.find(numbers) if posting_list.inline is not None and numbers else ()
            for posting_list in posting_lists
        ]
