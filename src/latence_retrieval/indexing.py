"""Fill the stores of the hybrid surfaces: documents become chunks, entities become names and vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from itertools import islice
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from latence_retrieval.errors import InvalidInputError
from latence_retrieval.ports.embedding import EmbeddingProvider
from latence_retrieval.ports.stores import ChunkWriter, EntityWriter, TenantId, VectorWriter
from latence_retrieval.records import Chunk, Entity, Identifier, Scalar
from latence_retrieval.text.sentences import sentence_spans
from latence_retrieval.vectors import checked_embedding

__all__ = [
    "IndexProgress",
    "SourceDocument",
    "chunk_text",
    "entity_text",
    "index_chunks",
    "index_documents",
    "index_entities",
    "split_sentences",
]

DEFAULT_BATCH_SIZE = 64
"""Texts in one embedding call and one write: what sentence encoders take at once without growing their memory."""

MAX_CHUNK_CHARACTERS = 1200
"""Some 200 to 250 English words: within the 256 word pieces that small sentence encoders read."""

IndexProgress = Callable[[int, int | None], None]
"""Called with how many items are stored so far, and how many there will be (None where that is not known)."""

Item = TypeVar("Item")


class SourceDocument(BaseModel):
    """One document to index.

    Attributes:
        id: unique within a tenant; its chunks are named `id#0`, `id#1`, ….
        title: repeated with every chunk, and indexed with it.
        source: where the document lives, for citations and filters.
        metadata: flat values to filter on, copied to every chunk.
    """

    model_config = ConfigDict(frozen=True)

    id: Identifier
    text: str
    title: str | None = None
    source: str | None = None
    metadata: dict[str, Scalar] = Field(default_factory=dict)


class Splitter(Protocol):
    """Cuts a text into the pieces that become chunks, in order."""

    def __call__(self, text: str, /) -> Iterable[str]:
        """Return the pieces; a blank piece is skipped."""
        ...


def split_sentences(text: str, *, max_characters: int = MAX_CHUNK_CHARACTERS) -> list[str]:
    """Return runs of whole sentences of at most `max_characters`; only a longer sentence is cut by force.

    Args:
        text: any text.
        max_characters: limit of a piece.

    Raises:
        InvalidInputError: a limit below 1.
    """
    if max_characters < 1:
        raise InvalidInputError("max_characters", f"is {max_characters}", fix="give 1 or more")
    pieces: list[str] = []
    begin = end = 0
    for start, stop in sentence_spans(text):
        if end > begin and stop - begin > max_characters:
            pieces.append(text[begin:end])
            begin = start
        elif end == begin:
            begin = start
        end = stop
        while end - begin > max_characters:
            pieces.append(text[begin : begin + max_characters])
            begin += max_characters
    if end > begin:
        pieces.append(text[begin:end])
    return pieces


async def index_documents(
    documents: Iterable[SourceDocument],
    *,
    store: ChunkWriter,
    tenant: TenantId,
    embeddings: EmbeddingProvider | None = None,
    split: Splitter = split_sentences,
    batch_size: int = DEFAULT_BATCH_SIZE,
    progress: IndexProgress | None = None,
) -> int:
    """Cut documents into chunks, embed them and store them; return the number of chunks.

    A document that is indexed again replaces its old chunks. Without `embeddings` the chunks have no vectors, and
    the semantic channel will not see them.

    Args:
        documents: read once, one document at a time.
        store: takes the chunks.
        tenant: whose they are.
        embeddings: embeds title and text of each chunk.
        split: cuts a text into pieces.
        batch_size: chunks in one embedding call and one write.
        progress: called after each document with the number of documents done.

    Raises:
        InvalidInputError: a batch size below 1, or vectors that are not finite.
        DimensionMismatchError: the provider returned another dimension than it declares.
    """
    total = len(documents) if isinstance(documents, Sized) else None
    chunks_stored = 0
    for done, document in enumerate(documents, start=1):
        await store.remove_document(tenant, document.id)
        chunks = _chunks_of(document, split)
        chunks_stored += await index_chunks(
            chunks, store=store, tenant=tenant, embeddings=embeddings, batch_size=batch_size
        )
        if progress is not None:
            progress(done, total)
    return chunks_stored


async def index_chunks(
    chunks: Iterable[Chunk],
    *,
    store: ChunkWriter,
    tenant: TenantId,
    embeddings: EmbeddingProvider | None = None,
    batch_size: int = DEFAULT_BATCH_SIZE,
    progress: IndexProgress | None = None,
) -> int:
    """Embed chunks that are cut already and store them; return how many.

    Args:
        chunks: read once, in batches.
        store: takes them.
        tenant: whose they are.
        embeddings: embeds title and text; None stores no vectors.
        batch_size: chunks in one embedding call and one write.
        progress: called after each batch with the number of chunks done.

    Raises:
        InvalidInputError: a batch size below 1, or vectors that are not finite.
        DimensionMismatchError: the provider returned another dimension than it declares.
    """
    total = len(chunks) if isinstance(chunks, Sized) else None
    done = 0
    for batch in _batches(chunks, batch_size):
        vectors: Sequence[Sequence[float] | None] = [None] * len(batch)
        if embeddings is not None:
            vectors = await _embedded(embeddings, [chunk_text(chunk) for chunk in batch])
        await store.put_chunks(tenant, list(zip(batch, vectors, strict=True)))
        done += len(batch)
        if progress is not None:
            progress(done, total)
    return done


async def index_entities(
    entities: Iterable[Entity],
    *,
    store: EntityWriter,
    tenant: TenantId,
    embeddings: EmbeddingProvider | None = None,
    vectors: VectorWriter | None = None,
    text_of: Callable[[Entity], str] | None = None,
    batch_size: int = DEFAULT_BATCH_SIZE,
    progress: IndexProgress | None = None,
) -> int:
    """Store entities with their blocking keys and, where a provider is given, their vectors; return how many.

    Args:
        entities: read once, in batches.
        store: takes the entities.
        tenant: whose they are.
        embeddings: embeds the text of each entity; goes together with `vectors`.
        vectors: takes the vectors.
        text_of: the text to embed; None for `entity_text`: the name, and the description where there is one.
        batch_size: entities in one embedding call and one write.
        progress: called after each batch with the number of entities done.

    Raises:
        InvalidInputError: `embeddings` without `vectors` or the reverse, a batch size below 1, or vectors that are
            not finite.
        DimensionMismatchError: the provider returned another dimension than it declares.
    """
    if (embeddings is None) is not (vectors is None):
        raise InvalidInputError("embeddings, vectors", "are not given together", fix="give both or neither")
    describe = text_of or entity_text
    total = len(entities) if isinstance(entities, Sized) else None
    done = 0
    for batch in _batches(entities, batch_size):
        rows: list[tuple[str, str | None, Sequence[float]]] = []
        if embeddings is not None:
            embedded = await _embedded(embeddings, [describe(entity) for entity in batch])
            rows = [(entity.id, entity.type, vector) for entity, vector in zip(batch, embedded, strict=True)]
        await store.put_entities(tenant, batch)
        if vectors is not None:
            await vectors.put_vectors(tenant, rows)
        done += len(batch)
        if progress is not None:
            progress(done, total)
    return done


def chunk_text(chunk: Chunk) -> str:
    """Return what is embedded and indexed of a chunk: its title, if any, and its text."""
    return f"{chunk.title}\n{chunk.text}" if chunk.title else chunk.text


def entity_text(entity: Entity) -> str:
    """Return what is embedded of an entity: its name, and its description where there is one."""
    return f"{entity.name}: {entity.description}" if entity.description else entity.name


def _chunks_of(document: SourceDocument, split: Splitter) -> Iterator[Chunk]:
    pieces = (piece for piece in split(document.text) if piece.strip())
    for place, piece in enumerate(pieces):
        yield Chunk(
            id=f"{document.id}#{place}",
            text=piece,
            title=document.title,
            document_id=document.id,
            source=document.source,
            metadata=dict(document.metadata),
        )


async def _embedded(embeddings: EmbeddingProvider, texts: Sequence[str]) -> list[list[float]]:
    vectors = await embeddings.embed(texts)
    if len(vectors) != len(texts):
        raise InvalidInputError(
            "embeddings", f"returned {len(vectors)} vectors for {len(texts)} texts", fix="repair the provider's embed()"
        )
    return [checked_embedding(vector, embeddings.dimension, "embeddings.embed(texts)") for vector in vectors]


def _batches(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    if size < 1:
        raise InvalidInputError("batch_size", f"is {size}", fix="give 1 or more")
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
