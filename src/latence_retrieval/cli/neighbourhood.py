"""One entity or chunk of a sidecar with what stands next to it, as plain data."""

from __future__ import annotations

from typing import Any

from latence_retrieval.sidecar.codec import EdgeKind
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval.text.normalise import normalise

__all__ = ["describe_chunk", "describe_entity", "find_entities"]


def find_entities(sidecar: Sidecar, wanted: str) -> list[int]:
    """Return the numbers of the entity with that id, else of those with that name, the likeliest first."""
    by_id = sidecar.entity_numbers([wanted])[0]
    if by_id is not None:
        return [by_id]
    form = sidecar.alias_forms([normalise(wanted)])[0]
    if form is None:
        return []
    return [candidate.entity for candidate in sorted(form.candidates, key=lambda item: (-item.prior, item.entity))]


def describe_entity(sidecar: Sidecar, number: int, *, limit: int) -> dict[str, Any]:
    """Return an entity's record, and up to `limit` of its facts, of the chunks about it and of its mentions."""
    found: dict[EdgeKind, dict[int, None]] = {kind: {} for kind in EdgeKind}
    degree, at = 0, 0
    while (block := sidecar.incidence(number, at)) is not None and not all(
        len(found[kind]) >= limit for kind in EdgeKind
    ):
        degree = block.degree
        for kind, chunk, mark in zip(block.kinds, block.chunks, block.marks, strict=True):
            seen = found[EdgeKind(kind)]
            if len(seen) < limit:
                seen[mark if kind == EdgeKind.FACT else chunk] = None
        at += 1
    facts = [_fact(sidecar, fact) for fact in found[EdgeKind.FACT]]
    about = _chunks(sidecar, list(found[EdgeKind.ABOUT]))
    mentioned_in = _chunks(sidecar, list(found[EdgeKind.MENTION]))
    return {
        **sidecar.entities([number])[0].model_dump(mode="json"),
        "degree": degree,
        "shown": len(facts) + len(about) + len(mentioned_in),
        "facts": facts,
        "about": about,
        "mentioned_in": mentioned_in,
    }


def describe_chunk(sidecar: Sidecar, number: int) -> dict[str, Any]:
    """Return a chunk's record with its entities by name."""
    links = sidecar.links([number])[0]
    entities = [] if links is None else [value >> 1 for value in links.entities]
    names = [{"id": entity.id, "name": entity.name} for entity in sidecar.entities(entities)]
    subjects = 0 if links is None else links.subjects
    return {
        **sidecar.chunks([number])[0].model_dump(mode="json"),
        "about_entities": names[:subjects],
        "mentioned_entities": names[subjects:],
    }


def _fact(sidecar: Sidecar, number: int) -> dict[str, Any]:
    fact = sidecar.facts([number])[0]
    return {
        "id": fact.id,
        "relation": sidecar.relations([fact.relation])[0][0],
        "members": [entity.name for entity in sidecar.entities(fact.members)],
        "confidence": fact.confidence,
        "chunk": sidecar.chunks([fact.chunk])[0].id,
    }


def _chunks(sidecar: Sidecar, numbers: list[int]) -> list[dict[str, Any]]:
    return [{"id": chunk.id, "title": chunk.title} for chunk in sidecar.chunks(numbers)]
