"""In which sentences of which chunks a content word stands: what the walk asks to see what a sentence answers.

BM25 ranks whole chunks. The walk needs less and finer: of the few words of the question that no anchor explains,
which does this sentence hold? One row a word says so for every chunk that has it, as a bit a sentence. Words that
more than `MAX_CHUNKS_A_TERM` chunks have tell little and have no row, so that reading one is bounded whatever the corpus.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from latence_retrieval.build.lists import SpilledLists
from latence_retrieval.sidecar.codec import ANY_SENTENCE, TITLE_MASK, encode_term_sentences, sentence_mask
from latence_retrieval.text.content import content_terms
from latence_retrieval.text.tokenise import Token

__all__ = ["MAX_CHUNKS_A_TERM", "add_terms", "term_sentence_rows"]

MAX_CHUNKS_A_TERM = 4_096
_MASK_BITS = 32


def add_terms(
    lists: SpilledLists, chunk: int, title: Sequence[Token], text: Sequence[Token], sentences: Sequence[int]
) -> None:
    """Record in which sentences each content term of a chunk stands; `sentences` is parallel to `text`."""
    masks = dict.fromkeys(content_terms([token.form for token in title]), TITLE_MASK)
    forms = [token.form for token in text]
    start = 0
    while start < len(text):
        sentence = sentences[start]
        stop = bisect_right(sentences, sentence, start)
        bit = sentence_mask(sentence)
        for term in content_terms(forms[start:stop]):
            masks[term] = masks.get(term, 0) | bit
        start = stop
    chunk <<= _MASK_BITS
    lists.add([(term, chunk | mask) for term, mask in masks.items()])


def term_sentence_rows(lists: Iterable[tuple[bytes, array[int]]]) -> Iterator[tuple[bytes, bytes]]:
    """Turn lists of chunk and mask, in one number, into one packed row a term, leaving the commonest terms out."""
    for key, numbers in lists:
        if len(numbers) <= MAX_CHUNKS_A_TERM:
            chunks = [number >> _MASK_BITS for number in numbers]
            yield key, encode_term_sentences(chunks, [number & ANY_SENTENCE for number in numbers])
