"""Multi-hop evidence from a read-only sidecar: no graph database, no language model, a few milliseconds a query.

    from latence_retrieval import build_sidecar, retrieve_evidence

Importing this package touches no disk, environment, network or entry point, and loads pydantic alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latence_retrieval.build import BuildReport, build_sidecar
    from latence_retrieval.chunks import ChunkRetriever
    from latence_retrieval.entities import LexicalSettings, Retriever
    from latence_retrieval.errors import LatenceRetrievalError
    from latence_retrieval.evidence import retrieve_evidence
    from latence_retrieval.evidence_result import EvidenceResult
    from latence_retrieval.indexing import SourceDocument, index_chunks, index_documents, index_entities
    from latence_retrieval.ports.stores import ChunkFilter
    from latence_retrieval.records import Chunk, Entity, Fact, Member, Relation
    from latence_retrieval.retrieval_results import (
        ChunkRetrievalResult,
        RetrievalMode,
        RetrievalResult,
        ScoredChunk,
        ScoredEntity,
    )
    from latence_retrieval.settings import Settings
    from latence_retrieval.sidecar.read import Sidecar
    from latence_retrieval.verification import VerifyReport, verify_sidecar

__version__ = "0.1.0"

_HOME = {
    "BuildReport": "build",
    "Chunk": "records",
    "ChunkFilter": "ports.stores",
    "ChunkRetrievalResult": "retrieval_results",
    "ChunkRetriever": "chunks",
    "Entity": "records",
    "EvidenceResult": "evidence_result",
    "Fact": "records",
    "LatenceRetrievalError": "errors",
    "LexicalSettings": "entities",
    "Member": "records",
    "Relation": "records",
    "RetrievalMode": "retrieval_results",
    "RetrievalResult": "retrieval_results",
    "Retriever": "entities",
    "ScoredChunk": "retrieval_results",
    "ScoredEntity": "retrieval_results",
    "Settings": "settings",
    "Sidecar": "sidecar.read",
    "SourceDocument": "indexing",
    "VerifyReport": "verification",
    "build_sidecar": "build",
    "index_chunks": "indexing",
    "index_documents": "indexing",
    "index_entities": "indexing",
    "retrieve_evidence": "evidence",
    "verify_sidecar": "verification",
}

__all__ = [
    "BuildReport",
    "Chunk",
    "ChunkFilter",
    "ChunkRetrievalResult",
    "ChunkRetriever",
    "Entity",
    "EvidenceResult",
    "Fact",
    "LatenceRetrievalError",
    "LexicalSettings",
    "Member",
    "Relation",
    "RetrievalMode",
    "RetrievalResult",
    "Retriever",
    "ScoredChunk",
    "ScoredEntity",
    "Settings",
    "Sidecar",
    "SourceDocument",
    "VerifyReport",
    "__version__",
    "build_sidecar",
    "index_chunks",
    "index_documents",
    "index_entities",
    "retrieve_evidence",
    "verify_sidecar",
]


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use, so that importing the package stays quick."""
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
