"""Latency of the hybrid surfaces over in-memory stores, beside the readings of redstring 0.10 for the same sizes.

    OPENBLAS_NUM_THREADS=1 python -m eval.bench.surfaces [--entities 1000,10000,100000] [--chunks 1000,10000]

Entities are synthetic people: one of twenty given names, drawn by Zipf's law, and a made-up surname, so that many
share a beginning and a sound, as in real catalogues; one in four has an alias; vectors are random, of 384 dimensions. Each
query is a name with one letter of the surname changed. Chunks are passages of the question sets with their own vectors and questions.
The query's embedding is handed over, so that no model is timed. Times are of the processor, in one thread, so that other
work on the machine does not count. redstring's figures are clock times on an idle machine of the same kind. `--plain` measures without numpy, RapidFuzz and jellyfish.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from time import process_time

from eval.config import default_data_dir
from eval.data.load import load_set
from latence_retrieval.chunks import ChunkRetriever
from latence_retrieval.entities import Retriever
from latence_retrieval.memory.chunk_store import MemoryChunkStore
from latence_retrieval.memory.entity_store import MemoryEntityStore, MemoryVectorStore
from latence_retrieval.records import Chunk, Entity
from latence_retrieval.text.similarity import FUZZY_SWITCH
from latence_retrieval.vectors import NUMPY_SWITCH

TENANT = "bench"
DIMENSION = 384
SETS = ("2wiki_pooled", "musique_pooled", "hotpotqa_pooled")
MODES = ("semantic", "lexical", "hybrid")

REDSTRING = {
    ("entities", 1_000): (158, 0.6, 150),
    ("entities", 10_000): (1_157, 12, 1_169),
    ("entities", 100_000): (11_456, 102, 12_991),
    ("chunks", 1_000): (385, 75, 423),
    ("chunks", 10_000): (3_380, 644, 4_203),
}
"""redstring 0.10, in-memory stores, median clock ms a query: semantic, lexical, hybrid; November 2026, two-core x86-64,
idle, on names of its own bench. On the names, passages and queries of this file, with its blocking keys set, it took in
processor time on one busy machine: 10,000 entities 628, 160 and 866 ms (here 1.3, 1.7 and 4.4), 100,000 entities by words
1,071 (3.2), 10,000 chunks 2,039 and 537 (1.3 and 1.4)."""


GIVEN = (
    "James Mary John Patricia Robert Jennifer Michael Linda David Elizabeth William Barbara Richard Susan Joseph Jessica"
    " Thomas Sarah Charles Karen"
).split()


SYLLABLES = [onset + vowel for onset in "bdfgklmnprstvz" for vowel in "aeiou"]


class Ready:
    """An embedding provider that is never asked."""

    dimension = DIMENSION

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        raise NotImplementedError("the benchmark hands the embedding over")


Call = Callable[[str, Sequence[float], str], Awaitable[object]]


async def timed(
    call: Call, queries: Sequence[tuple[str, Sequence[float]]], mode: str, repeats: int
) -> tuple[float, float]:
    """Return median and 95th percentile in ms of processor time over the queries, each the best of its repeats."""
    await call(*queries[0], mode)
    readings = []
    for query, vector in queries:
        best = float("inf")
        for _ in range(repeats):
            start = process_time()
            await call(query, vector, mode)
            best = min(best, process_time() - start)
        readings.append(1000.0 * best)
    readings.sort()
    return statistics.median(readings), readings[int(0.95 * len(readings))]


async def entity_surface(count: int, queries: int) -> tuple[Call, list[tuple[str, Sequence[float]]]]:
    """Fill the stores with so many entities."""
    draw = random.Random(5)
    names = person_names(count)
    store, vectors = MemoryEntityStore(), MemoryVectorStore(DIMENSION)
    for start in range(0, count, 5000):
        batch = [
            Entity(id=f"e{n:06}", name=names[n], aliases=(f"{names[n]} Ltd",) if n % 4 == 0 else ())
            for n in range(start, min(start + 5000, count))
        ]
        await store.put_entities(TENANT, batch)
        await vectors.put_vectors(TENANT, [(entity.id, None, random_vector(draw)) for entity in batch])
    retriever = Retriever(embeddings=Ready(), vectors=vectors, entities=store)

    async def call(query: str, vector: Sequence[float], mode: str) -> object:
        return await retriever.retrieve(query, TENANT, mode=mode, embedding=vector)

    asked: list[tuple[str, Sequence[float]]] = []
    for name in draw.sample(names, queries):
        at = draw.randrange(name.index(" ") + 2, len(name))
        asked.append((name[:at] + draw.choice("aeiou") + name[at + 1 :], random_vector(draw)))
    return call, asked


async def chunk_surface(count: int, queries: int, data: Path) -> tuple[Call, list[tuple[str, Sequence[float]]]]:
    """Fill a store with so many passages of the question sets."""
    rows: list[tuple[Chunk, Sequence[float]]] = []
    asked: list[tuple[str, Sequence[float]]] = []
    for name in SETS:
        loaded = load_set(data, name)
        if loaded.vectors is None:
            raise SystemExit(f"{name} has no vectors; run `python -m eval prepare --sets {name}`")
        vectors = loaded.vectors.chunks
        rows += [
            (Chunk(id=passage.id, title=passage.title, text=passage.text), vectors[row].tolist())
            for row, passage in enumerate(loaded.passages[: count - len(rows)])
        ]
        asked += [(question.text, loaded.vectors.queries[question.row].tolist()) for question in loaded.questions]
        if len(rows) == count:
            break
    store = MemoryChunkStore(DIMENSION)
    await store.put_chunks(TENANT, rows)
    retriever = ChunkRetriever(embeddings=Ready(), chunks=store)

    async def call(query: str, vector: Sequence[float], mode: str) -> object:
        return await retriever.retrieve_chunks(query, TENANT, mode=mode, embedding=vector)

    return call, random.Random(5).sample(asked, queries)


def person_names(count: int) -> list[str]:
    """Return so many names; the same ones every time."""
    draw = random.Random(11)
    given = draw.choices(GIVEN, [1.0 / (rank + 1) for rank in range(len(GIVEN))], k=count)
    return [f"{first} {''.join(draw.choices(SYLLABLES, k=4)).title()}" for first in given]


def random_vector(draw: random.Random) -> list[float]:
    """Return a vector without a direction that stands out."""
    return [draw.random() - 0.5 for _ in range(DIMENSION)]


async def measure(options: argparse.Namespace) -> None:
    """Print the table."""
    print("| store | mode | median ms | p95 ms | redstring ms | ratio |")
    print("|---|---|---|---|---|---|")
    for kind, sizes in (("entities", options.entities), ("chunks", options.chunks)):
        for size in (int(part) for part in sizes.split(",") if part):
            if kind == "entities":
                call, queries = await entity_surface(size, options.queries)
            else:
                call, queries = await chunk_surface(size, options.queries, options.data)
            for place, mode in enumerate(MODES):
                median, p95 = await timed(call, queries, mode, options.repeats)
                peer = REDSTRING.get((kind, size), (None, None, None))[place]
                ratio = f"{peer / median:,.0f} ×" if peer else ""
                print(f"| {size:,} {kind} | {mode} | {median:.2f} | {p95:.2f} | {peer or ''} | {ratio} |", flush=True)


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=default_data_dir(), help="where the question sets are")
    parser.add_argument("--entities", default="1000,10000,100000")
    parser.add_argument("--chunks", default="1000,10000")
    parser.add_argument("--queries", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--plain", action="store_true", help="the base install: no numpy, RapidFuzz or jellyfish")
    options = parser.parse_args()
    if options.plain:
        os.environ[NUMPY_SWITCH] = os.environ[FUZZY_SWITCH] = "0"
    asyncio.run(measure(options))


if __name__ == "__main__":
    main()
