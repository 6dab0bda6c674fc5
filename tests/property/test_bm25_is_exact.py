"""BM25 over posting lists equals a scan of every chunk, bit for bit, whatever the corpus and the query."""

import math
import random
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from latence_retrieval.lexical import postings_writer
from latence_retrieval.lexical.bm25 import DEFAULT_B, DEFAULT_K1, Bm25
from latence_retrieval.lexical.memory_postings import MemoryPostings
from latence_retrieval.lexical.postings import KeyValuePostings
from latence_retrieval.lexical.postings_writer import PostingsWriter
from latence_retrieval.lexical.terms import ANALYSERS
from latence_retrieval.memory.key_value import MemoryKeyValue
from latence_retrieval.ports.key_value import Table

PLAIN = ANALYSERS["plain-1"]
WORDS = st.sampled_from(["ant", "bee", "cat", "dog", "elk", "fox"])
CORPUS = st.lists(st.lists(WORDS, max_size=12).map(" ".join), max_size=30)
QUERY = st.lists(WORDS, max_size=6)


def scan(texts, query, k1, b):
    """Score every chunk by the formula as it is written down."""
    bags = [Counter(PLAIN.terms(text)) for text in texts]
    average = sum(map(Counter.total, bags)) / len(bags) if any(bags) else 1.0
    frequency = {term: sum(term in bag for bag in bags) for term in query}
    order = sorted({term for term in query if frequency[term]}, key=lambda term: (frequency[term], term))
    scores = []
    for bag in bags:
        score = 0.0
        for term in order:
            idf = math.log1p((len(bags) - frequency[term] + 0.5) / (frequency[term] + 0.5))
            if bag[term]:
                norm = k1 * (1.0 - b), k1 * b / average
                score += query.count(term) * idf * bag[term] / (bag[term] + norm[0] + norm[1] * bag.total())
        scores.append(score)
    return scores


def sources(texts, block_size):
    memory = MemoryPostings(analyser=PLAIN)
    store = MemoryKeyValue()
    kept = postings_writer.BLOCK_SIZE
    postings_writer.BLOCK_SIZE = block_size
    try:
        with PostingsWriter(analyser=PLAIN) as writer:
            for number, text in enumerate(texts):
                memory.add(number, text)
                writer.add(number, text)
            store.put_many(Table.TERM, writer.rows())
    finally:
        postings_writer.BLOCK_SIZE = kept
    return memory, KeyValuePostings(store)


@settings(deadline=None)
@given(
    texts=CORPUS,
    query=QUERY,
    k=st.integers(0, 35),
    k1=st.sampled_from([0.0, 0.9, 1.2, 5.0]),
    b=st.sampled_from([0.0, 0.4, 0.75, 1.0]),
    block_size=st.integers(1, 9),
    allowed=st.none() | st.sets(st.integers(0, 29)),
)
def test_top_and_scores_equal_a_full_scan(texts, query, k, k1, b, block_size, allowed):
    scores = scan(texts, query, k1, b)
    ranked = sorted(
        ((n, s) for n, s in enumerate(scores) if s > 0.0 and (allowed is None or n in allowed)),
        key=lambda pair: (-pair[1], pair[0]),
    )
    for source in sources(texts, block_size):
        bm25 = Bm25(source, k1=k1, b=b)
        assert bm25.top(query, k, allowed=allowed) == ranked[:k]
        assert bm25.scores(query, range(len(texts))) == scores


@settings(deadline=None)
@given(texts=CORPUS, gone=st.sets(st.integers(0, 29)), query=QUERY, k=st.integers(1, 35))
def test_an_index_that_lost_chunks_ranks_like_one_that_never_had_them(texts, gone, query, k):
    shrunk = MemoryPostings(analyser=PLAIN)
    fresh = MemoryPostings(analyser=PLAIN)
    for number, text in enumerate(texts):
        shrunk.add(number, text)
        if number not in gone:
            fresh.add(number, text)
    for number in gone:
        if number < len(texts):
            shrunk.remove(number, texts[number])

    assert Bm25(shrunk).top(query, k) == Bm25(fresh).top(query, k)


@settings(deadline=None, max_examples=60)
@given(seed=st.integers(0, 10**9), k=st.integers(1, 12), words=st.integers(1, 8))
def test_pruning_never_changes_the_answer_where_some_terms_are_rare_and_some_common(seed, k, words):
    draw = random.Random(seed)
    vocabulary = [f"w{'abcdefghijklmnopqrstuvwxyz'[place]}" for place in range(26)]
    weights = [1.0 / (place + 1) ** 1.3 for place in range(26)]
    texts = [" ".join(draw.choices(vocabulary, weights, k=draw.randint(1, 40))) for _ in range(150)]
    query = draw.choices(vocabulary, k=words)
    scores = scan(texts, query, DEFAULT_K1, DEFAULT_B)
    ranked = sorted(((n, s) for n, s in enumerate(scores) if s > 0.0), key=lambda pair: (-pair[1], pair[0]))

    for source in sources(texts, 16):
        assert Bm25(source).top(query, k) == ranked[:k]
