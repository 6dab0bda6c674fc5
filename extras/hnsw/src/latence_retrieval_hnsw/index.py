"""`HnswEntityIndex`: see `latence_retrieval.ports.entity_index.EntityIndex` for what it must do."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latence_retrieval.errors import DimensionMismatchError, SidecarMismatchError, needs_extra
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.vectors import VectorFile, checked_embedding, normalised, rounded_cosines
from latence_retrieval_hnsw.build import DEFAULT_EF_CONSTRUCTION, DEFAULT_M, build_index
from latence_retrieval_hnsw.header import REBUILD, check_index_file, read_header

__all__ = ["HnswEntityIndex"]

DEFAULT_EF = 64
"""Candidates of a search: recall .997 at 10 on 100,000 vectors of dimension 384 (adr/0044)."""

_SPARE = 16  # more than `k` are fetched, so that equal cosines at the edge are cut by number

_DISTANCE_ERROR = 1e-4  # of two single-precision sums of up to 800 products of unit vectors


class HnswEntityIndex:
    """Approximate nearest entities (Malkov and Yashunin, arXiv:1603.09320) by hnswlib.

    Loading takes 0.4 s for 100,000 vectors, so keep the object and pass it to every call. Safe for threads; a
    forked worker may go on using it. Cosines are computed anew from the stored vectors, in double precision to 7
    decimals, and are those of the exact scan.
    """

    latence_plugin_protocol = 1
    latence_plugin_requires = ("hnswlib", "numpy")
    latence_plugin_extra = "hnsw"

    def __init__(
        self,
        path: str | Path,
        *,
        dimension: int | None = None,
        rows: int | None = None,
        snapshot_id: str | None = None,
        ef: int = DEFAULT_EF,
        verify: bool = True,
    ) -> None:
        """Load an index that `build` wrote.

        Args:
            path: the index file; its header `<path>.json` stands beside it.
            dimension: refuse another one.
            rows: refuse an index over another number of entities.
            snapshot_id: refuse an index of another snapshot.
            ef: candidates of a search; more find more, slower.
            verify: compare the file's sha256; False saves 0.1 s a 100 MB.

        Raises:
            SidecarNotFoundError: the index or its header is absent.
            SidecarCorruptError: truncated, altered, or no such index.
            SidecarVersionError: written by a newer release.
            SidecarMismatchError: other entities than asked for.
            DimensionMismatchError: another dimension than asked for.
            MissingExtraError: hnswlib or numpy is not installed.
        """
        self.path = Path(path)
        self.header = header = read_header(self.path)
        if dimension is not None and dimension != header.dimension:
            raise DimensionMismatchError(str(path), expected=dimension, actual=header.dimension, fix=REBUILD)
        for name, asked, found in (("rows", rows, header.rows), ("snapshot_id", snapshot_id, header.snapshot_id)):
            if asked is not None and asked != found:
                raise SidecarMismatchError(path, f"has {name} {found}, asked for {asked}", fix=REBUILD)
        check_index_file(self.path, header, verify=verify)
        with needs_extra("hnsw", package="hnswlib", purpose="the HNSW entity index"):
            import hnswlib
        self._index: Any = hnswlib.Index(space=header.space, dim=header.dimension)
        self._index.load_index(str(self.path))
        self._index.set_ef(ef)

    @classmethod
    def build(
        cls,
        vectors: VectorFile | Any,
        path: str | Path,
        *,
        snapshot_id: str | None = None,
        m: int = DEFAULT_M,
        ef_construction: int = DEFAULT_EF_CONSTRUCTION,
        threads: int = 1,
    ) -> HnswEntityIndex:
        """Build an index, write it and its header, and return it opened.

        Args:
            vectors: a `VectorFile`, or a two-dimensional numpy array (memory-mapped will do); row n is entity n. A row
                of zeros has no vector, and is left out.
            path: the index file to write; what is there is replaced.
            snapshot_id: the snapshot whose entities these are.
            m: links an element.
            ef_construction: candidates while building.
            threads: more than one builds faster, but not twice the same.

        Raises:
            InvalidInputError: not two-dimensional, or NaN or infinity in a row.
            MissingExtraError: hnswlib or numpy is not installed.
        """
        build_index(vectors, Path(path), snapshot_id=snapshot_id, m=m, ef_construction=ef_construction, threads=threads)
        return cls(path, verify=False)

    @classmethod
    def build_for(cls, sidecar: str | Path, path: str | Path | None = None, **options: int) -> HnswEntityIndex:
        """Build the index of a published snapshot's entity vectors; by default at `<sidecar>.hnsw`.

        Args:
            sidecar: the snapshot's directory.
            path: where to write the index; the snapshot's own directory is never written to.
            options: `m`, `ef_construction`, `threads`.

        Raises:
            SidecarError: the snapshot cannot be opened, or has no entity vectors.
        """
        with Sidecar.open(sidecar) as snapshot:
            vectors = snapshot.entity_vectors
            if vectors is None:
                raise SidecarMismatchError(sidecar, "has no entity vectors", fix="build it with entity vectors")
            return cls.build(vectors, path or _beside(sidecar), snapshot_id=snapshot.manifest.snapshot_id, **options)

    @classmethod
    def open_for(cls, sidecar: str | Path, path: str | Path | None = None, *, ef: int = DEFAULT_EF) -> HnswEntityIndex:
        """Open the index of a published snapshot, and refuse that of another.

        Args:
            sidecar: the snapshot's directory.
            path: where `build_for` wrote the index.
            ef: candidates of a search.

        Raises:
            SidecarError: as for opening either; `SidecarMismatchError` where they do not belong together.
        """
        with Sidecar.open(sidecar) as snapshot:
            manifest = snapshot.manifest
        return cls(path or _beside(sidecar), dimension=manifest.dimension, snapshot_id=manifest.snapshot_id, ef=ef)

    @property
    def dimension(self) -> int:
        """Length of the vectors that the index holds."""
        return self.header.dimension

    def nearest(self, embedding: Sequence[float], k: int) -> list[tuple[int, float]]:
        """Return at most `k` pairs of entity number and cosine in [-1, 1], best first, ties by ascending number.

        Args:
            embedding: of the index's dimension and any length; one of zeros has no neighbours.
            k: how many; fewer come back where fewer have vectors.

        Raises:
            DimensionMismatchError: another dimension.
            InvalidInputError: NaN or infinity.
        """
        unit = normalised(checked_embedding(embedding, self.dimension, "embedding"))
        if k <= 0 or not any(unit):
            return []
        numbers = _contenders(self._search(unit, k + _SPARE), k)
        if not numbers:
            return []
        cosines = rounded_cosines(unit, self._index.get_items(numbers, return_type="numpy"))
        return sorted(zip(numbers, cosines, strict=True), key=lambda pair: (-pair[1], pair[0]))[:k]

    def _search(self, unit: list[float], wanted: int) -> list[tuple[int, float]]:
        """Return (number, distance); hnswlib raises RuntimeError where it reaches fewer than it was asked for."""
        wanted = min(wanted, self.header.present)
        while wanted > 0:
            try:
                labels, distances = self._index.knn_query([unit], k=wanted, num_threads=1)
            except RuntimeError:
                wanted //= 2
            else:
                return list(zip(labels[0].tolist(), distances[0].tolist(), strict=True))
        return []


def _contenders(found: list[tuple[int, float]], k: int) -> list[int]:
    """Return the numbers that may be among the best `k` once their cosines are computed exactly."""
    if len(found) <= k:
        return [number for number, _ in found]
    edge = sorted(distance for _, distance in found)[k - 1] + _DISTANCE_ERROR
    return [number for number, distance in found if distance <= edge]


def _beside(sidecar: str | Path) -> Path:
    directory = Path(sidecar)
    return directory.with_name(directory.name + ".hnsw")
