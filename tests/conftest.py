"""Knowledge bases that many tests share: a small one written by hand, and the sample that the package carries."""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from latence_retrieval import build_sidecar, plugins

hypothesis.settings.register_profile("suite", deadline=None, derandomize=True)
hypothesis.settings.register_profile(
    "unshrunk", deadline=None, phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate]
)
hypothesis.settings.load_profile("suite")

SAMPLE = Path(__file__).resolve().parent.parent / "src" / "latence_retrieval" / "cli" / "sample"

ENTITIES: list[dict[str, Any]] = [
    {"id": "org:orrin", "name": "Orrin Works Ltd", "type": "company", "aliases": ["Orrin"]},
    {"id": "org:velden", "name": "Velden Castings", "type": "company"},
    {"id": "part:ax100", "name": "AX-100", "type": "product", "aliases": ["spindle AX-100"]},
    {"id": "person:ada", "name": "Ada Morrow", "type": "person"},
    {"id": "city:lumen", "name": "Lumen (city)", "type": "place"},
    {"id": "lamp:lumen", "name": "Lumen (lamp)", "type": "product"},
    {"id": "city:brack", "name": "Brack", "type": "place"},
]
CHUNKS: list[dict[str, Any]] = [
    {
        "id": "c-spindle",
        "title": "AX-100",
        "text": "The AX-100 is a spindle. Its housing is cast by Velden Castings in Brack.",
        "about": ["part:ax100"],
        "source": "wiki/ax100",
    },
    {
        "id": "c-velden",
        "title": "Velden Castings",
        "text": "Velden Castings belongs to Orrin Works Ltd. It pours aluminium and bronze.",
        "about": ["org:velden"],
    },
    {
        "id": "c-orrin",
        "title": "Orrin Works Ltd",
        "text": "Orrin Works Ltd is led by Ada Morrow. The company keeps its books in Lumen.",
        "about": ["org:orrin"],
    },
    {
        "id": "c-ada",
        "title": "Ada Morrow",
        "text": "Ada Morrow was born in Brack and studied metallurgy.",
        "about": ["person:ada"],
    },
    {"id": "c-lumen-city", "title": "Lumen (city)", "text": "A port with a cathedral.", "about": ["city:lumen"]},
    {"id": "c-lumen-lamp", "title": "Lumen (lamp)", "text": "A lamp for workshops.", "about": ["lamp:lumen"]},
    {"id": "c-brack", "title": "Brack", "text": "Brack lies on a river. Its bridge is old.", "about": ["city:brack"]},
    {"id": "c-noise-1", "title": "Weather", "text": "It rained for a week, and the harvest was late."},
    {"id": "c-noise-2", "title": "Cooking", "text": "Boil the roots, then add salt and herbs."},
]
FACTS: list[dict[str, Any]] = [
    {
        "id": "f-cast",
        "relation": "cast_by",
        "members": ["part:ax100", "org:velden"],
        "chunk": "c-spindle",
        "confidence": 0.9,
    },
    {
        "id": "f-owned",
        "relation": "owned_by",
        "members": ["org:velden", "org:orrin"],
        "chunk": "c-velden",
        "confidence": 0.95,
    },
    {
        "id": "f-led",
        "relation": "led_by",
        "members": ["org:orrin", "person:ada"],
        "chunk": "c-orrin",
        "confidence": 0.8,
    },
]


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """Arguments of `build_sidecar`, as data that a test may change."""

    entities: list[dict[str, Any]]
    chunks: list[dict[str, Any]]
    facts: list[dict[str, Any]]

    def build(self, target: Path, **options: Any) -> Path:
        """Publish to `target` and return it."""
        given: dict[str, Any] = {"entities": self.entities, "chunks": self.chunks, "facts": self.facts, **options}
        return build_sidecar(target, **given).path


def hashed_vector(text: str, dimension: int = 16) -> list[float]:
    """Return a unit vector that depends on the words of `text` alone: a stand-in for an embedding model."""
    total = [0.0] * dimension
    for word in text.casefold().split():
        digest = hashlib.sha256(word.strip(".,?()").encode()).digest()
        for at in range(dimension):
            total[at] += digest[at] / 127.5 - 1.0
    norm = math.hypot(*total)
    return [value / norm for value in total] if norm else total


def with_vectors(
    records: Sequence[Mapping[str, Any]], text_of: Callable[[Mapping[str, Any]], str]
) -> list[dict[str, Any]]:
    """Return the records with an inline vector each."""
    return [{**record, "vector": hashed_vector(text_of(record))} for record in records]


def read_lines(name: str) -> list[dict[str, Any]]:
    """Return the records of one file of the bundled sample."""
    return [json.loads(line) for line in (SAMPLE / name).read_text(encoding="utf-8").splitlines() if line.strip()]


def backends() -> list[str]:
    """Return the key-value backends that this environment can use."""
    infos = {info.name: info.state for info in plugins.discover()}
    return ["sqlite", *(["lmdb"] if infos.get("kv.lmdb") == "ready" else [])]


@pytest.fixture
def base() -> KnowledgeBase:
    """The hand-written knowledge base, a copy of its own for each test."""
    return KnowledgeBase(*(json.loads(json.dumps(part)) for part in (ENTITIES, CHUNKS, FACTS)))


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The hand-written knowledge base, published without vectors."""
    return KnowledgeBase(ENTITIES, CHUNKS, FACTS).build(tmp_path_factory.mktemp("small") / "sidecar")


@pytest.fixture(scope="session")
def small_vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with vectors of 16 dimensions for entities and chunks."""
    entities = with_vectors(ENTITIES, lambda entity: entity["name"])
    chunks = with_vectors(CHUNKS, lambda chunk: f"{chunk['title']} {chunk['text']}")
    target = tmp_path_factory.mktemp("small-vectors") / "sidecar"
    return KnowledgeBase(entities, chunks, FACTS).build(target, embedding_model="hashed-16", tenant="acme")


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled sample, published with vectors."""
    return build_sample(tmp_path_factory.mktemp("sample") / "sidecar")


def build_sample(target: Path, *, chunks: Sequence[Mapping[str, Any]] | None = None, **options: Any) -> Path:
    """Publish the bundled sample with vectors, perhaps with its chunks in another order."""
    records = read_lines("chunks.jsonl") if chunks is None else list(chunks)
    report = build_sidecar(
        target,
        chunks=with_vectors(records, lambda chunk: f"{chunk['title']} {chunk['text']}"),
        entities=options.pop("entities", None)
        or with_vectors(read_lines("entities.jsonl"), lambda entity: entity["name"]),
        facts=SAMPLE / "facts.jsonl",
        relations=SAMPLE / "relations.jsonl",
        embedding_model="hashed-16",
        **options,
    )
    return report.path


@pytest.fixture(scope="session")
def questions() -> list[str]:
    """The questions of the bundled sample."""
    return [record["question"] for record in read_lines("questions.jsonl")]


@pytest.fixture(scope="session")
def evaluation_data() -> Path:
    """The folder of public question sets; skips where it is absent."""
    given = os.environ.get("LATENCE_EVAL_DATA")
    path = Path(given) if given else Path(__file__).resolve().parent.parent.parent / "shared" / "data"
    if not path.is_dir():
        pytest.skip("no evaluation data; set LATENCE_EVAL_DATA to the folder that holds 2wiki_pooled")
    return path
