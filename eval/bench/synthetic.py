"""A knowledge base of any size from a seed: power-law degrees, homonyms, five facts an entity, one chunk each.

Entity `n` has one chunk, which states its five facts in as many sentences. Objects are drawn with density x^(-2/3)
over the entities' ranks, so that hubs stand out as countries and years do in real text: at a million entities the
first is in some fifty thousand facts.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

__all__ = ["FACTS_PER_ENTITY", "SyntheticBase"]

FACTS_PER_ENTITY = 5

_HOMONYM_EVERY = 25
"""Each 25th entity bears the name of the one before it."""

_TERNARY_EVERY = 5
"""Each fifth fact ties three entities, the others two."""

_SPREAD = 2_654_435_761
"""Knuth's multiplicative constant (TAOCP 3, 6.4): spreads ranks over entity numbers where the sizes are coprime."""

_SYLLABLES = tuple(
    onset + vowel
    for onset in ["b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z"]
    for vowel in "aeiou"
)
_RELATIONS = ("supplies", "owns", "audits", "insures", "advises", "finances", "certifies", "transports")
_TYPES = ("company", "person", "site", "product")


class SyntheticBase:
    """Records and questions; every call gives the same ones."""

    def __init__(self, entity_count: int, *, seed: int = 1) -> None:
        """Choose the size.

        Args:
            entity_count: how many entities; as many chunks, and five times as many facts.
            seed: another seed, another base.
        """
        self.entity_count = entity_count
        self._seed = seed
        self._spread = next(step for step in range(_SPREAD, _SPREAD + 1000) if math.gcd(step, entity_count) == 1)

    def name(self, number: int) -> str:
        """Return an entity's name: two words of three or four syllables."""
        bearer = number - 1 if number % _HOMONYM_EVERY == _HOMONYM_EVERY - 1 else number
        return f"{_word(bearer * 7919 + 11)} {_word(bearer)}"

    def facts_of(self, number: int) -> list[tuple[str, list[int], float]]:
        """Return (relation, members, confidence) of the facts that an entity's chunk states."""
        draw = random.Random(self._seed * 1_000_003 + number)
        found = []
        for at in range(FACTS_PER_ENTITY):
            others = [self._object(draw.random()) for _ in range(2 if at % _TERNARY_EVERY == 0 else 1)]
            members = list(dict.fromkeys([number, *others]))
            if len(members) == 1:
                members.append((number + 1) % self.entity_count)
            found.append((draw.choice(_RELATIONS), members, round(0.5 + draw.random() / 2, 2)))
        return found

    def entities(self) -> Iterator[dict[str, Any]]:
        """Yield entity records."""
        for number in range(self.entity_count):
            yield {"id": f"e{number}", "name": self.name(number), "type": _TYPES[number % len(_TYPES)]}

    def chunks(self) -> Iterator[dict[str, Any]]:
        """Yield chunk records."""
        for number in range(self.entity_count):
            name = self.name(number)
            sentences = [
                f"{name} {relation} {' and '.join(self.name(other) for other in members[1:])}."
                for relation, members, _ in self.facts_of(number)
            ]
            yield {"id": f"c{number}", "title": name, "text": " ".join(sentences), "about": [f"e{number}"]}

    def facts(self) -> Iterator[dict[str, Any]]:
        """Yield fact records."""
        for number in range(self.entity_count):
            for relation, members, confidence in self.facts_of(number):
                yield {
                    "relation": relation,
                    "members": [f"e{member}" for member in members],
                    "chunk": f"c{number}",
                    "confidence": confidence,
                }

    def questions(self, count: int) -> list[str]:
        """Return questions of about a dozen words that name one or two entities."""
        draw = random.Random(self._seed)
        found = []
        for at in range(count):
            first = self.name(draw.randrange(self.entity_count))
            second = self.name(self._object(draw.random()))
            if at % 2:
                found.append(f"Which company supplies the site that {first} owns, and who audits it?")
            else:
                found.append(f"Who finances {first} and also certifies what {second} transports?")
        return found

    def _object(self, uniform: float) -> int:
        rank = int(self.entity_count * uniform**3)
        return rank * self._spread % self.entity_count


def _word(number: int) -> str:
    """Return a word that stands for a number; different numbers below 70^4 have different words."""
    syllables = []
    for _ in range(4):
        number, at = divmod(number, len(_SYLLABLES))
        syllables.append(_SYLLABLES[at])
    return "".join(syllables).capitalize()
