"""In which sentences of which chunks a content word stands: what the walk asks to see what a sentence answers.

BM25 ranks whole chunks. The walk needs less and finer: of the few words of the question that no anchor explains,
which does this sentence hold? One row a word says so for every chunk that has it, as a bit a sentence. Words that
more than `MAX_CHUNKS_A_TERM` chunks have tell little and have no row, so that reading one is bounded whatever the corpus.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence

from latence_retrieval.build.lists import SpilledLists
from latence_retrieval.sidecar.codec import TITLE_MASK, encode_term_sentences, sentence_mask
from latence_retrieval.text.content import content_term, content_terms

__all__ = ["MAX_CHUNKS_A_TERM", "add_terms", "term_sentence_rows"]

MAX_CHUNKS_A_TERM = 4_096
_MASK_BITS = 32


def add_terms(lists: SpilledLists, chunk: int, title: Sequence[str], text: Sequence[str], ends: Sequence[int]) -> None:
    """Record in which sentences each content term of a chunk stands.

    Args:
        lists: where.
        chunk: its number.
        title: normal forms of the title's tokens.
        text: normal forms of the text's tokens.
        ends: where each sentence of the text ends, in tokens.
    """
    masks = dict.fromkeys(content_terms(title), TITLE_MASK)
    known = masks.get
    are_words = all(map(str.isascii, text))
    terms = list(map(content_term, text)) if are_words else []
    start = 0
    for sentence, end in enumerate(ends):
        bit = sentence_mask(sentence)
        for term in terms[start:end] if are_words else content_terms(text[start:end]):
            masks[term] = known(term, 0) | bit
        start = end
    masks.pop("", None)  # function words
    chunk <<= _MASK_BITS
    lists.add([(term, chunk | mask) for term, mask in masks.items()])


def term_sentence_rows(lists: Iterable[tuple[bytes, array[int]]]) -> Iterator[tuple[bytes, bytes]]:
    """Turn lists of chunk and mask, in one number, into one packed row a term, leaving the commonest terms out."""
    high = sys.byteorder == "little"  # the place of a number's upper half, which is the chunk
    for key, numbers in lists:
        if len(numbers) <= MAX_CHUNKS_A_TERM:
            halves = array("I", numbers.tobytes())
            yield key, encode_term_sentences(halves[high::2], halves[not high :: 2])
