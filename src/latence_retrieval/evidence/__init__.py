"""The composition: a question and a sidecar in, chains of evidence within a token budget out."""

from latence_retrieval.evidence.retrieve import retrieve_evidence

__all__ = ["retrieve_evidence"]
