"""In which sentences of which chunks a content word stands: what the walk asks to see what a sentence answers.

BM25 ranks whole chunks. The walk needs less and finer: of the few words of the question that no anchor explains,
which does this sentence hold? One row a word says so for every chunk that has it, as a bit a sentence. Words that
more than `MAX_CHUNKS_A_TERM` chunks have tell little and have no row, so that reading one is bounded whatever the corpus.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from latence_retrieval.build.spill import SpillSorter
from latence_retrieval.sidecar.codec import TITLE_MASK, encode_term_sentences, named_key, sentence_mask
from latence_retrieval.text.content import content_terms
from latence_retrieval.text.tokenise import Token

__all__ = ["MAX_CHUNKS_A_TERM", "add_terms", "term_sentence_rows"]

MAX_CHUNKS_A_TERM = 4_096


def add_terms(
    sorter: SpillSorter, chunk: int, title: Sequence[Token], text: Sequence[Token], sentences: Sequence[int]
) -> None:
    """Record in which sentences each content term of a chunk stands; `sentences` is parallel to `text`."""
    masks = dict.fromkeys(content_terms([token.form for token in title]), TITLE_MASK)
    start = 0
    while start < len(text):
        sentence = sentences[start]
        stop = bisect_right(sentences, sentence, start)
        bit = sentence_mask(sentence)
        for term in content_terms([token.form for token in text[start:stop]]):
            masks[term] = masks.get(term, 0) | bit
        start = stop
    number = chunk.to_bytes(4, "big")
    for term, mask in masks.items():
        sorter.add(named_key(term), number + mask.to_bytes(4, "big"))


def term_sentence_rows(rows: Iterable[tuple[bytes, bytes]]) -> Iterator[tuple[bytes, bytes]]:
    """Turn sorted (term key, chunk and mask big-endian) rows into one packed row a term, leaving the commonest out."""
    for key, group in groupby(rows, key=lambda row: row[0]):
        pairs: list[tuple[int, int]] = []
        for _, value in group:
            pairs.append((int.from_bytes(value[:4], "big"), int.from_bytes(value[4:], "big")))
            if len(pairs) > MAX_CHUNKS_A_TERM:
                break
        if len(pairs) <= MAX_CHUNKS_A_TERM:
            yield key, encode_term_sentences(pairs)
