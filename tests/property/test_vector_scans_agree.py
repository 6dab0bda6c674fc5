"""The scan with numpy, the scan without, and a naive one give the same numbers and the same order."""

from __future__ import annotations

import math
import random
import tempfile
from array import array
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latence_retrieval.vectors import COSINE_DECIMALS, VectorFile, normalised

pytest.importorskip("numpy")

COMPONENTS = st.floats(-1, 1, width=32) | st.sampled_from([0.0, 1.0, -1.0, 0.5])


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[list[float]], list[float], int]:
    """Rows of unit length or zero, some of them equal, a query, and k."""
    dimension = draw(st.integers(1, 12))
    vectors = st.lists(COMPONENTS, min_size=dimension, max_size=dimension)
    rows = draw(st.lists(vectors, max_size=40))
    rows += draw(st.lists(st.sampled_from(rows), max_size=20)) if rows else []
    rows += [[0.0] * dimension] * draw(st.integers(0, 5))
    units = [list(array("f", normalised(row))) for row in draw(st.permutations(rows))]
    return units, draw(vectors), draw(st.integers(0, 12))


def naive(rows: list[list[float]], query: list[float], k: int) -> list[tuple[int, float]]:
    """Return the best k by exactly rounded sums."""
    unit = normalised(query)
    if not any(unit):
        return []
    scored = []
    for number, row in enumerate(rows):
        if any(row):
            exact = math.fsum(left * right for left, right in zip(unit, row, strict=True))
            scored.append((number, min(1.0, max(-1.0, round(exact * 10**COSINE_DECIMALS) / 10**COSINE_DECIMALS))))
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


@settings(max_examples=150, deadline=None)
@given(cases())
def test_every_way_to_scan_gives_the_same(case: tuple[list[list[float]], list[float], int]) -> None:
    rows, query, k = case
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "v.f32"
        path.write_bytes(b"".join(array("f", row).tobytes() for row in rows))
        files = [VectorFile(path, dimension=len(query), count=len(rows), use_numpy=switch) for switch in (True, False)]
        expected = naive(rows, query, k)
        for file in files:
            assert file.nearest(query, k) == expected
        everything = list(range(len(rows)))
        assert files[0].dots(query, everything) == files[1].dots(query, everything)
        for file in files:
            file.close()


def test_sums_at_a_halfway_point_round_alike(tmp_path: Path) -> None:
    """Here the order of summation decides on the last digit, unless the exactly rounded sum does."""
    generator = random.Random(5)
    for at in range(100):
        row = array("f", normalised([generator.gauss(0, 1) for _ in range(384)]))
        query = [generator.gauss(0, 0.05) for _ in range(384)]
        halfway = (round(generator.random() * 10**6) + 0.5) / 10**COSINE_DECIMALS
        others = math.fsum(left * right for left, right in zip(query[1:], row[1:], strict=True))
        query[0] = (halfway - others) / row[0]
        path = tmp_path / f"{at}.f32"
        path.write_bytes(row.tobytes())
        with_numpy, without = (VectorFile(path, dimension=384, count=1, use_numpy=switch) for switch in (True, False))
        assert with_numpy.dots(query, [0]) == without.dots(query, [0])
