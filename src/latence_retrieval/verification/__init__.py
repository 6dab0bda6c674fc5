"""The composition: a published snapshot in, the first thing that is wrong with it out."""

from latence_retrieval.verification.verify import VerifyReport, verify_sidecar

__all__ = ["VerifyReport", "verify_sidecar"]
