"""The key-value contract, against LMDB."""

from __future__ import annotations

import pytest

from latence_retrieval.testing.key_value_files import KeyValueFileConformance
from latence_retrieval_lmdb import LmdbBackend

pytest.importorskip("lmdb")


class TestLmdb(KeyValueFileConformance):
    def backend(self) -> LmdbBackend:
        return LmdbBackend()
