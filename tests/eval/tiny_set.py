"""A set of six passages and three questions, small enough to check by eye."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

CORPUS: list[dict[str, Any]] = [
    {
        "id": "a",
        "title": "Blue Harbour (film)",
        "text": "Blue Harbour is a film directed by Ana Reyes in 1984.",
    },
    {"id": "b", "title": "Ana Reyes", "text": "Ana Reyes was born in Lisbon. She made Blue Harbour."},
    {"id": "c", "title": "Red Canyon", "text": "Red Canyon is a film directed by Tom Weld."},
    {"id": "d", "title": "Tom Weld", "text": "Tom Weld was born in Dublin and directed Red Canyon."},
    {"id": "e", "title": "Lisbon", "text": "Lisbon is the capital of Portugal, where Ana Reyes lived."},
    {"id": "f", "title": "Dublin", "text": "Dublin is the capital of Ireland."},
]
QUERIES: list[dict[str, Any]] = [
    {
        "id": "q1",
        "question": "Where was the director of Blue Harbour born?",
        "answer": "Lisbon",
        "type": "bridge",
        "gold_ids": ["a", "b"],
        "source": "x+TTS-project",
        "evidences": [["Blue Harbour (film)", "director", "Ana Reyes"], ["Ana Reyes", "born in", "Lisbon"]],
    },
    {
        "id": "q2",
        "question": "Which capital is the birthplace of the director of Red Canyon?",
        "answer": "Dublin",
        "type": "compositional",
        "gold_ids": ["c", "d", "f"],
        "source": "y",
        "decomposition": [{"support_id": "c"}, {"support_id": "d"}, {"support_id": "f"}],
    },
    {"id": "q3", "question": "Who lived in Portugal?", "type": None, "gold_ids": ["e"]},
]
ANCHORS: list[dict[str, Any]] = [
    {"id": "q1", "anchors": [{"id": "a", "mention": "Blue Harbour", "start": 26, "end": 38}]},
    {"id": "q2", "anchors": [{"id": "c", "mention": "Red Canyon", "start": 51, "end": 61}]},
    {"id": "q3", "anchors": []},
]


def write_lines(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Write JSON Lines, gzipped where the name says so."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
