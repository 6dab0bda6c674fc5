"""Recall of passages by words, by vectors and by both, on the question sets; and whether BM25's top ten are exact.

    python -m eval.bench.hybrid_recall [--sets 2wiki_pooled,hotpotqa_pooled,musique_pooled] [--check-exact]

The vectors are those of the sets (all-MiniLM-L6-v2); every figure is the mean over all questions.
"""

from __future__ import annotations

import argparse
import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from eval.config import default_data_dir
from eval.data.load import load_set
from eval.data.records import EvalSet
from latence_retrieval.chunks import ChunkRetriever
from latence_retrieval.lexical.bm25 import DEFAULT_B, DEFAULT_K1
from latence_retrieval.lexical.terms import ANALYSERS
from latence_retrieval.memory.chunk_store import MemoryChunkStore
from latence_retrieval.records import Chunk

SETS = "2wiki_pooled,hotpotqa_pooled,musique_pooled"
TENANT = "bench"
PLACES = (2, 5, 10)
MODES = ("lexical", "semantic", "hybrid")


class Ready:
    """An embedding provider that is never asked."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise NotImplementedError("the vectors are handed over")


async def measure(loaded: EvalSet, *, check_exact: bool) -> None:
    """Print one set's rows."""
    if loaded.vectors is None:
        raise SystemExit(f"{loaded.name} has no vectors; run `python -m eval prepare --sets {loaded.name}`")
    store = MemoryChunkStore(loaded.vectors.chunks.shape[1])
    chunks = [Chunk(id=passage.id, title=passage.title, text=passage.text) for passage in loaded.passages]
    await store.put_chunks(TENANT, [(c, v.tolist()) for c, v in zip(chunks, loaded.vectors.chunks, strict=True)])
    retriever = ChunkRetriever(embeddings=Ready(store.dimension or 0), chunks=store)
    for mode in MODES:
        sums = dict.fromkeys(PLACES, 0.0)
        for question in loaded.questions:
            vector = loaded.vectors.queries[question.row].tolist()
            result = await retriever.retrieve_chunks(question.text, TENANT, k=max(PLACES), mode=mode, embedding=vector)
            ranked = [match.chunk.id for match in result.matches]
            for places in PLACES:
                sums[places] += len(set(ranked[:places]) & set(question.gold_ids)) / len(set(question.gold_ids))
        figures = " | ".join(f"{100 * total / len(loaded.questions):.1f}" for total in sums.values())
        print(f"| {loaded.name} | {mode} | {figures} |", flush=True)
    if check_exact:
        await check(loaded, chunks, store)


async def check(loaded: EvalSet, chunks: Sequence[Chunk], store: MemoryChunkStore) -> None:
    """Compare the top ten of every question with a scan of every passage: ids, order and scores bit for bit."""
    analyser = ANALYSERS["english-1"]
    bags = [Counter(analyser.terms(f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text)) for chunk in chunks]
    lengths = [bag.total() for bag in bags]
    average = sum(lengths) / len(lengths)
    frequencies = Counter(term for bag in bags for term in bag)
    differing = 0
    for question in loaded.questions:
        asked = Counter(term for term in analyser.terms(question.text) if frequencies[term])
        weights = {
            term: times * math.log1p((len(bags) - frequencies[term] + 0.5) / (frequencies[term] + 0.5))
            for term, times in sorted(asked.items(), key=lambda pair: (frequencies[pair[0]], pair[0]))
        }
        scores = []
        for chunk, bag, length in zip(chunks, bags, lengths, strict=True):
            scale = DEFAULT_K1 * (1.0 - DEFAULT_B)
            slope = DEFAULT_K1 * DEFAULT_B / average
            score = 0.0
            for term, weight in weights.items():
                if term in bag:
                    score += weight * bag[term] / (bag[term] + scale + slope * length)
            scores.append((-score, chunk.id))
        expected = [(identifier, -score) for score, identifier in sorted(scores)[:10] if score < 0.0]
        found = await store.match_chunks(TENANT, question.text, 10)
        differing += [tuple(place) for place in found] != expected
    print(f"{loaded.name}: BM25 top ten differ from a full scan on {differing} of {len(loaded.questions)} questions")


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=default_data_dir(), help="where the question sets are")
    parser.add_argument("--sets", default=SETS)
    parser.add_argument("--check-exact", action="store_true", help="also scan every passage for every question")
    options = parser.parse_args()
    print("| set | mode | recall@2 | @5 | @10 |\n|---|---|---|---|---|")
    for name in options.sets.split(","):
        asyncio.run(measure(load_set(options.data, name), check_exact=options.check_exact))


if __name__ == "__main__":
    main()
