"""The hybrid surfaces over published snapshots: the files that serve chains serve entities and passages too.

    with Sidecar.open("snapshot") as sidecar:
        retriever = ChunkRetriever(embeddings=provider, chunks=SidecarChunkStore({"acme": sidecar}))

The caller opens and closes the snapshots; an adapter reads them and holds nothing else than what it read of their
types. Reads are quick and local, so they run on the event loop as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from latence_retrieval.errors import InvalidInputError, SidecarMismatchError, SidecarVersionError
from latence_retrieval.lexical.bm25 import Bm25
from latence_retrieval.lexical.candidates import best_candidates
from latence_retrieval.lexical.postings import KeyValuePostings
from latence_retrieval.lexical.terms import Analyser, analyser_named
from latence_retrieval.ports.key_value import Table
from latence_retrieval.ports.stores import ChunkFilter, Ranked, TenantId, canonical_id
from latence_retrieval.records import Chunk, Entity
from latence_retrieval.sidecar.codec import named_key, unpack_numbers
from latence_retrieval.sidecar.damage import damage_told
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.vectors import VectorFile

__all__ = ["SidecarChunkStore", "SidecarEntityStore", "SidecarVectorStore"]

Record = TypeVar("Record", Entity, Chunk)

_MORE_ROWS = 16  # rows fetched past k, so that a tie at the cut is seen


class SidecarEntityStore:
    """`EntityReader` over the name keys of published snapshots. The builder gives them to catalogue entities."""

    def __init__(self, sidecars: Mapping[TenantId, Sidecar]) -> None:
        """Take one open snapshot a tenant.

        Raises:
            SidecarMismatchError: a snapshot was published for another tenant.
        """
        self._sidecars = _checked(sidecars)

    async def entities(self, tenant: TenantId, ids: Sequence[str]) -> list[Entity | None]:
        """Return one entity or None per id."""
        sidecar = _of(self._sidecars, tenant)
        if sidecar is None:
            return [None] * len(ids)
        return _records(sidecar.entity_numbers(ids), sidecar.entities)

    async def name_candidates(
        self, tenant: TenantId, keys: Sequence[str], *, limit: int, entity_types: Collection[str] | None = None
    ) -> list[Entity]:
        """Return the entities that share the most telling keys."""
        sidecar = _of(self._sidecars, tenant)
        if sidecar is None or (entity_types is not None and not entity_types):
            return []
        rows = sidecar.reader.get_many(Table.NAME_KEY, [named_key(key) for key in keys])
        held: dict[int, Entity] = {}

        def ids(numbers: Sequence[int]) -> list[str]:
            return [entity.id for entity in _remembered(held, numbers, sidecar.entities)]

        def of_types(numbers: Sequence[int]) -> list[int]:
            found = _remembered(held, numbers, sidecar.entities)
            return [n for n, entity in zip(numbers, found, strict=True) if entity.type in (entity_types or ())]

        with damage_told(sidecar):
            best = best_candidates(
                [(key, unpack_numbers(row)) for key, row in zip(keys, rows, strict=True) if row is not None],
                limit,
                total=sidecar.manifest.counts.catalogue_entities,
                ids=ids,
                allowed=None if entity_types is None else of_types,
            )
        return _remembered(held, best, sidecar.entities)


class SidecarVectorStore:
    """`VectorReader` over the entity vectors of published snapshots, by an exact scan."""

    def __init__(self, sidecars: Mapping[TenantId, Sidecar]) -> None:
        """Take one open snapshot a tenant; all have entity vectors of one dimension.

        Raises:
            SidecarMismatchError: a snapshot was published for another tenant.
            InvalidInputError: a snapshot without entity vectors, or of another dimension than the first.
        """
        self._sidecars = _checked(sidecars)
        dimensions = {
            sidecar.manifest.dimension if "entity" in sidecar.manifest.vectors else None
            for sidecar in self._sidecars.values()
        }
        if None in dimensions or len(dimensions) != 1:
            raise InvalidInputError(
                "sidecars",
                "have no entity vectors, or not of one dimension",
                fix="build each with entity_vectors of one model, or use Retriever.lexical_only",
            )
        self._dimension: int = next(value for value in dimensions if value is not None)

    @property
    def dimension(self) -> int:
        """Length of the stored vectors."""
        return self._dimension

    async def nearest_entities(
        self,
        tenant: TenantId,
        embedding: Sequence[float],
        k: int,
        *,
        entity_types: Collection[str] | None = None,
    ) -> list[Ranked]:
        """Return the `k` nearest entities."""
        sidecar = _of(self._sidecars, tenant)
        if sidecar is None or sidecar.entity_vectors is None:
            return []

        def is_allowed(entity: Entity) -> bool:
            return entity_types is None or entity.type in entity_types

        return _nearest(sidecar.entity_vectors, embedding, k, sidecar.entities, is_allowed)


class SidecarChunkStore:
    """`ChunkReader` over the chunks, posting lists and chunk vectors of published snapshots."""

    def __init__(self, sidecars: Mapping[TenantId, Sidecar]) -> None:
        """Take one open snapshot a tenant; those that have chunk vectors have one dimension.

        Raises:
            SidecarMismatchError: a snapshot was published for another tenant.
            SidecarVersionError: index terms that this release does not make.
            InvalidInputError: chunk vectors of different dimensions.
        """
        self._sidecars = _checked(sidecars)
        self._words = {tenant: _words(sidecar) for tenant, sidecar in self._sidecars.items()}
        dimensions = {
            sidecar.manifest.dimension for sidecar in self._sidecars.values() if "chunk" in sidecar.manifest.vectors
        }
        if len(dimensions) > 1:
            raise InvalidInputError(
                "sidecars", f"have chunk vectors of dimensions {dimensions}", fix="build them with one model"
            )
        self._dimension = next(iter(dimensions), None)

    @property
    def dimension(self) -> int | None:
        """Length of the stored vectors; None where no snapshot has any."""
        return self._dimension

    async def chunks(self, tenant: TenantId, ids: Sequence[str]) -> list[Chunk | None]:
        """Return one chunk or None per id."""
        sidecar = _of(self._sidecars, tenant)
        if sidecar is None:
            return [None] * len(ids)
        return _records(sidecar.chunk_numbers(ids), sidecar.chunks)

    async def nearest_chunks(
        self, tenant: TenantId, embedding: Sequence[float], k: int, *, where: ChunkFilter | None = None
    ) -> list[Ranked]:
        """Return the `k` nearest chunks that have a vector."""
        sidecar = _of(self._sidecars, tenant)
        if sidecar is None or sidecar.chunk_vectors is None:
            return []

        def is_allowed(chunk: Chunk) -> bool:
            return where is None or where.allows(chunk)

        return _nearest(sidecar.chunk_vectors, embedding, k, sidecar.chunks, is_allowed)

    async def match_chunks(
        self, tenant: TenantId, query: str, k: int, *, where: ChunkFilter | None = None
    ) -> list[Ranked]:
        """Return the `k` best chunks by BM25."""
        sidecar = _of(self._sidecars, tenant)
        if sidecar is None:
            return []
        bm25, analyser = self._words[canonical_id(tenant)]
        held: dict[int, Chunk] = {}

        def ids(numbers: Sequence[int]) -> list[str]:
            return [chunk.id for chunk in _remembered(held, numbers, sidecar.chunks)]

        allowed = None if where is None else _Allowed(sidecar, where)
        with damage_told(sidecar):
            found = bm25.top(analyser.terms(query), k, allowed=allowed, ids=ids)
        names = ids([number for number, _ in found])
        return [Ranked(name, score) for name, (_, score) in zip(names, found, strict=True)]


class _Allowed:
    """The numbers of chunks that a filter lets through; a chunk is read when it is first asked about."""

    def __init__(self, sidecar: Sidecar, where: ChunkFilter) -> None:
        self._sidecar = sidecar
        self._where = where
        self._known: dict[int, bool] = {}

    def __contains__(self, number: object) -> bool:
        if not isinstance(number, int):
            return False
        known = self._known.get(number)
        if known is None:
            known = self._known[number] = self._where.allows(self._sidecar.chunks([number])[0])
        return known


def _of(sidecars: Mapping[str, Sidecar], tenant: TenantId) -> Sidecar | None:
    """Return a tenant's snapshot, None where it has none.

    Raises:
        InvalidInputError: the snapshot was closed.
    """
    sidecar = sidecars.get(canonical_id(tenant))
    if sidecar is not None and sidecar.is_closed:
        raise InvalidInputError(
            "sidecars", f"{sidecar.path} is closed", fix="keep it open as long as the store is used"
        )
    return sidecar


def _checked(sidecars: Mapping[TenantId, Sidecar]) -> dict[str, Sidecar]:
    """Return the snapshots by canonical tenant; one that was published for nobody in particular serves any."""
    checked: dict[str, Sidecar] = {}
    if not isinstance(sidecars, Mapping) or not all(isinstance(one, Sidecar) for one in sidecars.values()):
        raise InvalidInputError("sidecars", f"is {sidecars!r}", fix="map each tenant to its open Sidecar")
    for tenant, sidecar in sidecars.items():
        published_for = sidecar.manifest.tenant
        if published_for not in (None, canonical_id(tenant)):
            raise SidecarMismatchError(
                sidecar.path,
                f"belongs to tenant {published_for!r}, given for {canonical_id(tenant)!r}",
                fix="give each tenant the sidecar that was published for it",
            )
        checked[canonical_id(tenant)] = sidecar
    return checked


def _words(sidecar: Sidecar) -> tuple[Bm25, Analyser]:
    with damage_told(sidecar):
        postings = KeyValuePostings(sidecar.reader, path=sidecar.path)
    analyser = analyser_named(postings.stats.analyser or "plain-1")
    if analyser is None:
        raise SidecarVersionError(
            sidecar.path,
            f"has index terms of analyser {postings.stats.analyser!r}, which this release lacks",
            fix="upgrade latence-retrieval, or build the sidecar again",
        )
    return Bm25(postings), analyser


def _records(numbers: Sequence[int | None], read: Callable[[Sequence[int]], list[Record]]) -> list[Record | None]:
    present = [number for number in numbers if number is not None]
    found = dict(zip(present, read(present), strict=True))
    return [None if number is None else found[number] for number in numbers]


def _remembered(
    held: dict[int, Record], numbers: Sequence[int], read: Callable[[Sequence[int]], list[Record]]
) -> list[Record]:
    """Return records by number, reading only those that are not in `held` yet."""
    missing = [number for number in numbers if number not in held]
    held.update(zip(missing, read(missing), strict=True))
    return [held[number] for number in numbers]


def _nearest(
    vectors: VectorFile,
    embedding: Sequence[float],
    k: int,
    read: Callable[[Sequence[int]], list[Record]],
    is_allowed: Callable[[Record], bool],
) -> list[Ranked]:
    """Return the `k` nearest allowed records, ties by id: fetch more rows until no row unseen could enter."""
    if k <= 0:
        return []
    held: dict[int, Record] = {}
    fetch = k + _MORE_ROWS
    while True:
        rows = vectors.nearest(embedding, fetch)
        records = _remembered(held, [row for row, _ in rows], read)
        ranked = sorted(
            (
                Ranked(record.id, (1.0 + cosine) / 2.0)
                for record, (_, cosine) in zip(records, rows, strict=True)
                if is_allowed(record)
            ),
            key=lambda place: (-place.score, place.id),
        )
        is_all = len(rows) < fetch
        if is_all or (len(ranked) > k and ranked[k - 1].score > (1.0 + rows[-1][1]) / 2.0):
            return ranked[:k]
        fetch *= 4
