"""In which sentences of which chunks a content word stands: what the walk asks to see what a sentence answers.

BM25 ranks whole chunks. The walk needs less and finer: of the few words of the question that no anchor explains,
which does this sentence hold? One row a word says so for every chunk that has it, as a bit a sentence. Words that
more than `MAX_CHUNKS_A_TERM` chunks have tell little and have no row, so that reading one is bounded whatever the corpus.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from latence_retrieval.build.annotate import Annotated
from latence_retrieval.build.spill import SpillSorter
from latence_retrieval.sidecar.codec import TITLE_MASK, encode_term_sentences, named_key, sentence_mask
from latence_retrieval.text.content import content_terms
from latence_retrieval.text.tokenise import tokenise

__all__ = ["MAX_CHUNKS_A_TERM", "add_terms", "term_sentence_rows"]

MAX_CHUNKS_A_TERM = 4_096


def add_terms(sorter: SpillSorter, chunk: int, title: str | None, annotated: Annotated) -> None:
    """Record in which sentences each content term of a chunk stands."""
    masks: dict[str, int] = {}
    if title:
        masks = dict.fromkeys(content_terms([token.form for token in tokenise(title)]), TITLE_MASK)
    for sentence, run in groupby(zip(annotated.sentences, annotated.forms, strict=True), key=lambda pair: pair[0]):
        bit = sentence_mask(sentence)
        for term in content_terms([form for _, form in run]):
            masks[term] = masks.get(term, 0) | bit
    for term, mask in masks.items():
        sorter.add(named_key(term), chunk.to_bytes(4, "big") + mask.to_bytes(4, "big"))


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
