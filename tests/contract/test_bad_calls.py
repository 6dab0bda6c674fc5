"""Bad arguments to the hybrid surfaces: both refuse alike, before any port is called."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from latence_retrieval import ChunkRetriever, Retriever, Sidecar
from latence_retrieval.errors import DimensionMismatchError, InvalidInputError
from latence_retrieval.ports.stores import ChunkFilter, Ranked
from latence_retrieval.retrieval_results import ChunkRetrievalResult, RetrievalResult
from latence_retrieval.sidecar_stores import SidecarChunkStore, SidecarEntityStore, SidecarVectorStore


class Untouched:
    """Every port at once; it may not be called."""

    dimension = 2

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def called(*arguments: object, **options: object) -> list[Any]:
            self.calls.append(name)
            return [] if name != "embed" else [[1.0, 0.0]]

        return called


def entities(port: Any, *, lexical_only: bool = False) -> Callable[..., Any]:
    made = (
        Retriever.lexical_only(entities=port)
        if lexical_only
        else Retriever(embeddings=port, vectors=port, entities=port)
    )
    return made.retrieve


def chunks(port: Any, *, lexical_only: bool = False) -> Callable[..., Any]:
    made = ChunkRetriever.lexical_only(chunks=port) if lexical_only else ChunkRetriever(embeddings=port, chunks=port)
    return made.retrieve_chunks


SURFACES = pytest.mark.parametrize("surface", [entities, chunks])

WRONG: list[tuple[str, dict[str, Any]]] = [
    *(("query", {"query": value}) for value in (None, b"north", 7, ["north"])),
    *(("k", {"k": value}) for value in (-1, 1.5, True, None, "3", math.nan)),
    *(("tenant", {"tenant": value}) for value in (None, 7, b"acme", ["acme"])),
    *(("mode", {"mode": value}) for value in (7, "", "psychic", True)),
    *(
        ("embedding", {"embedding": value})
        for value in ([math.nan, 0.0], [math.inf, 0.0], [10**400, 0.0], "north", 7, [[1.0, 0.0]], [1.0, 0.0, 0.0], [])
    ),
]


@SURFACES
@pytest.mark.parametrize("mode", [None, "lexical"])
@pytest.mark.parametrize(("argument", "options"), WRONG, ids=range(len(WRONG)))
def test_a_wrong_argument_is_refused_before_any_work(
    surface: Any, mode: str | None, argument: str, options: dict[str, Any]
) -> None:
    port = Untouched()
    given = {"query": "north", "tenant": "acme", "mode": mode, **options}
    with pytest.raises((InvalidInputError, DimensionMismatchError), match=f"^{argument}: "):
        asyncio.run(surface(port)(given.pop("query"), given.pop("tenant"), **given))
    assert port.calls == []


@SURFACES
@pytest.mark.parametrize("embedding", [[math.nan], "north", []])
def test_without_vectors_an_embedding_must_still_be_one(surface: Any, embedding: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^embedding: "):
        asyncio.run(surface(Untouched(), lexical_only=True)("north", "acme", embedding=embedding))


@pytest.mark.parametrize("types", ["person", b"person", 7, [None], [7], {"person": 1, 2: 3}])
def test_entity_types_that_are_none_are_refused(types: Any) -> None:
    port = Untouched()
    with pytest.raises(InvalidInputError, match=r"^entity_types: "):
        asyncio.run(entities(port)("north", "acme", entity_types=types))
    assert port.calls == []


@pytest.mark.parametrize("where", [{"sources": ["a"]}, "wiki", 7, []])
def test_a_filter_of_another_type_is_refused(where: Any) -> None:
    port = Untouched()
    with pytest.raises(InvalidInputError, match=r"^where: "):
        asyncio.run(chunks(port)("north", "acme", where=where))
    assert port.calls == []


class Answering(Untouched):
    """A third party's stores and provider that answer what the test tells them."""

    def __init__(self, **answers: Any) -> None:
        super().__init__()
        self.answers = {"embed": [[1.0, 0.0]], **answers}

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def called(*arguments: object, **options: object) -> Any:
            return self.answers.get(name, [])

        return called


WRONG_RANKINGS = [
    *((7, None, "ab", [("a", 0.5)], [7], [Ranked(7, 0.5)])),  # type: ignore[arg-type]
    *([Ranked("a", score)] for score in (math.nan, math.inf, -1.0)),
]


@SURFACES
@pytest.mark.parametrize(
    ("answers", "named"),
    [
        *(
            ({"embed": value}, "embeddings")
            for value in (None, 7, "ab", {}, [], [[1.0]], [["a", "b"]], iter([[1.0, 0.0]]))
        ),
        *(
            ({"nearest_entities": value, "nearest_chunks": value}, "semantic store")
            for value in (*WRONG_RANKINGS[2:], [Ranked("a", 1.5)])
        ),
        *(
            (
                {
                    "nearest_entities": [Ranked("a", 0.5)],
                    "nearest_chunks": [Ranked("a", 0.5)],
                    "entities": v,
                    "chunks": v,
                },
                r"entities\(\)|chunks\(\)",
            )
            for v in (None, 7, [], [None, None])
        ),
    ],
    ids=range(20),
)
def test_a_port_that_answers_nonsense_is_named(surface: Any, answers: dict[str, Any], named: str) -> None:
    with pytest.raises((InvalidInputError, DimensionMismatchError), match=named):
        asyncio.run(surface(Answering(**answers))("Ada Morrow", "acme"))


@pytest.mark.parametrize("ranking", WRONG_RANKINGS[2:], ids=range(len(WRONG_RANKINGS) - 2))
def test_a_lexical_store_that_answers_nonsense_is_named(ranking: Any) -> None:
    with pytest.raises(InvalidInputError, match="lexical store"):
        asyncio.run(chunks(Answering(match_chunks=ranking))("Ada Morrow", "acme"))


@pytest.mark.parametrize("candidates", [None, 7, "ab"])
def test_an_entity_store_without_candidates_must_say_so_by_a_list(candidates: Any) -> None:
    with pytest.raises(InvalidInputError, match="name_candidates"):
        asyncio.run(entities(Answering(name_candidates=candidates))("Ada Morrow", "acme"))


@pytest.mark.parametrize(
    "fields",
    [
        *({"sources": value} for value in ("wiki", b"wiki", 7)),
        *({"document_ids": value} for value in ("d", 7)),
        *({"metadata": value} for value in (None, [], {"a": 7}, {"a": "text"}, {"a": None})),
    ],
)
def test_a_filter_of_texts_rather_than_collections_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError, match=next(iter(fields))):
        ChunkFilter(**fields)


@pytest.mark.parametrize("sidecars", [None, 7, {"acme": "path"}, {"acme": None}])
def test_stores_over_what_is_no_open_snapshot_are_refused(sidecars: Any) -> None:
    for store in (SidecarChunkStore, SidecarEntityStore, SidecarVectorStore):
        with pytest.raises(InvalidInputError, match="sidecars"):
            store(sidecars)


def test_a_store_over_a_snapshot_that_was_closed_says_so(small_vectors: Path) -> None:
    with Sidecar.open(small_vectors) as sidecar:
        chunk_store, entity_store = SidecarChunkStore({"acme": sidecar}), SidecarEntityStore({"acme": sidecar})
    with pytest.raises(InvalidInputError, match="is closed"):
        asyncio.run(ChunkRetriever.lexical_only(chunks=chunk_store).retrieve_chunks("Ada Morrow", "acme"))
    with pytest.raises(InvalidInputError, match="is closed"):
        asyncio.run(Retriever.lexical_only(entities=entity_store).retrieve("Ada Morrow", "acme"))


@SURFACES
@pytest.mark.parametrize(
    "query",
    ["\ud800 north \udfff", "\x00", "\u200b\u202e", "🤖" * 20_000, "\u0301" * 50, "a\u2028b", "กขค", "x" * 10**6],
)
def test_any_text_gives_a_result_that_can_be_written(surface: Any, query: str) -> None:
    result = asyncio.run(surface(Untouched())(query, uuid4()))
    assert type(result) in (RetrievalResult, ChunkRetrievalResult)
    assert type(result).model_validate_json(result.model_dump_json()) == result
    assert len(result.query) == len(query)
