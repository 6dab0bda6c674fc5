"""Recall of names: does a variant of an entity's name find the entity among the first ten, by names alone?

    python -m eval.bench.lexical_recall [--sets ror,sec_companies,geonames_cities15000] [--sample 1000]

Prints one table a catalogue: rows are kinds of variants, columns are settings of the lexical channel. A variant whose
normal form more than ten entities bear is left out, since no ranking could find them all in ten places.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from eval.config import default_data_dir
from latence_retrieval.entities import CLASSIC_LEXICAL, LexicalSettings, Retriever
from latence_retrieval.indexing import index_entities
from latence_retrieval.lexical.blocking import content_tokens
from latence_retrieval.memory.entity_store import MemoryEntityStore
from latence_retrieval.records import Entity
from latence_retrieval.text.normalise import normalise
from latence_retrieval.text.tokenise import tokenise

SETS = ("ror", "sec_companies", "geonames_cities15000")
TENANT = "bench"
PLACES = 10
SEED = 7

SETTINGS: Mapping[str, LexicalSettings] = {
    "classic keys": CLASSIC_LEXICAL,
    "classic keys, aliases": replace(CLASSIC_LEXICAL, aliases=True),
    "all keys, no aliases": LexicalSettings(aliases=False),
    "all (default)": LexicalSettings(),
}

QUESTIONS = (
    "What is known about {} since 1990?",
    "who was in charge of {} at the time",
    "When did {} sign the agreement, and with whom?",
    "Which countries does {} work with today?",
)

Variant = Callable[[Entity, random.Random], str | None]


def last_token(entity: Entity, _: random.Random) -> str | None:
    """Return the last word of a name of two or more."""
    tokens = tokenise(entity.name)
    words = content_tokens(tokens)
    return words[-1] if len(tokens) > 1 and words[-1] == tokens[-1].form and len(words) > 1 else None


def reordered(entity: Entity, _: random.Random) -> str | None:
    """Return "Last, First Middle"."""
    words = entity.name.split()
    return f"{words[-1]}, {' '.join(words[:-1])}" if len(words) > 1 else None


def one_typo(entity: Entity, draw: random.Random) -> str | None:
    """Change, drop, double or swap one letter of a name of at least five."""
    name = entity.name
    places = [place for place, letter in enumerate(name) if letter.isalpha()]
    if len(places) < 5:
        return None
    at = draw.choice(places)
    other = draw.choice("abcdefghijklmnopqrstuvwxyz")
    swapped = name[:at] + name[at + 1 : at + 2] + name[at] + name[at + 2 :]
    typo = draw.choice(
        [name[:at] + other + name[at + 1 :], name[:at] + name[at + 1 :], name[:at] + other + name[at:], swapped]
    )
    return typo if normalise(typo) != normalise(name) else None


def accents_dropped(entity: Entity, _: random.Random) -> str | None:
    """Return a name without its combining marks, where it has any."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", entity.name) if not unicodedata.combining(c))
    return plain if plain != unicodedata.normalize("NFKD", entity.name) else None


def acronym(entity: Entity, _: random.Random) -> str | None:
    """Return the initials of a name of three words or more."""
    words = content_tokens(tokenise(entity.name))
    return "".join(word[0] for word in words).upper() if 3 <= len(words) <= 8 else None


def in_question(entity: Entity, draw: random.Random) -> str | None:
    """Return a question that names the entity."""
    return draw.choice(QUESTIONS).format(entity.name)


def alias(entity: Entity, draw: random.Random) -> str | None:
    """Return one of the aliases."""
    return draw.choice(entity.aliases) if entity.aliases else None


VARIANTS: Mapping[str, Variant] = {
    "name as written": lambda entity, _: entity.name,
    "last token alone": last_token,
    "reordered": reordered,
    "one typo": one_typo,
    "accents dropped": accents_dropped,
    "initials": acronym,
    "inside a question": in_question,
    "an alias": alias,
}


def load(path: Path) -> list[Entity]:
    """Read a catalogue."""
    with gzip.open(path / "aliases.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [
        Entity(id=row["entity_id"], name=row["name"], aliases=tuple(row["aliases"]), type=row.get("type"))
        for row in rows
    ]


class Bearers:
    """How many entities bear a form, a word or initials; to tell what can be found in ten places at all."""

    def __init__(self, entities: Sequence[Entity]) -> None:
        self._forms: dict[str, set[str]] = defaultdict(set)
        self._words: dict[str, set[str]] = defaultdict(set)
        self._initials: dict[str, set[str]] = defaultdict(set)
        for entity in entities:
            self._initials[acronym(entity, random.Random()) or ""].add(entity.id)
            for surface in (entity.name, *entity.aliases):
                self._forms[normalise(surface)].add(entity.id)
            for surface in (entity.name, *entity.aliases):
                for word in content_tokens(tokenise(surface)):
                    self._words[word].add(entity.id)

    def of(self, kind: str, entity: Entity, variant: str) -> int:
        if kind == "last token alone":
            return len(self._words[variant])
        if kind == "initials":
            return len(self._initials[variant] | self._forms[normalise(variant)])
        return len(self._forms[normalise(variant if kind == "an alias" else entity.name)])


def cases(entities: Sequence[Entity], sample: int) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each kind with up to `sample` pairs of variant and entity id."""
    bearers = Bearers(entities)
    for kind, variant_of in VARIANTS.items():
        draw = random.Random(f"{SEED} {kind}")
        found: list[tuple[str, str]] = []
        for entity in draw.sample(entities, len(entities)):
            variant = variant_of(entity, draw)
            if variant and normalise(variant) and bearers.of(kind, entity, variant) <= PLACES:
                found.append((variant, entity.id))
                if len(found) == sample:
                    break
        yield kind, found


async def recall(retriever: Retriever, pairs: Sequence[tuple[str, str]]) -> float:
    """Return the part of the pairs whose entity is among the first ten."""
    hits = 0
    for query, wanted in pairs:
        result = await retriever.retrieve(query, TENANT, k=PLACES)
        hits += wanted in {match.entity.id for match in result.matches}
    return hits / len(pairs)


async def measure(name: str, path: Path, sample: int) -> None:
    """Print one catalogue's table."""
    entities = load(path)
    store = MemoryEntityStore()
    await index_entities(entities, store=store, tenant=TENANT)
    retrievers = {title: Retriever.lexical_only(entities=store, lexical=chosen) for title, chosen in SETTINGS.items()}
    print(f"\n{name}: {len(entities):,} entities, recall at {PLACES}\n")
    print("| variant | cases | " + " | ".join(retrievers) + " |")
    print("|---|---|" + "---|" * len(retrievers))
    for kind, pairs in cases(entities, sample):
        if pairs:
            figures = [f"{await recall(retriever, pairs):.3f}" for retriever in retrievers.values()]
            print(f"| {kind} | {len(pairs)} | " + " | ".join(figures) + " |", flush=True)


def main() -> None:
    """Run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=default_data_dir(), help="where the catalogues are")
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--sample", type=int, default=1000, help="cases of each kind")
    options = parser.parse_args()
    for name in options.sets.split(","):
        asyncio.run(measure(name, options.data / name, options.sample))


if __name__ == "__main__":
    main()
