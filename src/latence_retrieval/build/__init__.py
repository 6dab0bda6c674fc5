"""From a pipeline's records to a published sidecar."""

from latence_retrieval.build.build import BuildReport, build_sidecar

__all__ = ["BuildReport", "build_sidecar"]
