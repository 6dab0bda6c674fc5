"""What a knowledge base holds: entities, facts, chunks and relations, as frozen records.

The same models validate the builder's JSON Lines input and are handed back by readers and stores.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, FiniteFloat, StringConstraints, field_validator

__all__ = ["Chunk", "Entity", "Fact", "Identifier", "Member", "Relation", "Scalar"]

Identifier = Annotated[str, StringConstraints(min_length=1, max_length=4096)]
"""An id: any non-empty string. UUIDs are written in canonical lower-case hyphenated form."""

Scalar = str | int | FiniteFloat | bool
"""A value of metadata or properties; JSON has no NaN and no infinity."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)


class Entity(_Record):
    """One thing the corpus speaks of.

    Attributes:
        id: unique within a tenant.
        name: the preferred name, as written.
        type: a label such as "company"; None where unknown.
        aliases: other surface forms, as written; the name itself need not be repeated.
        description: free text for people and prompts.
        properties: flat facts about the entity; string values are searchable by the lexical channel.
        discovered: True where no catalogue named it: a recurring phrase that the builder found.
    """

    id: Identifier = Field(validation_alias=AliasChoices("id", "entity_id"))
    name: Annotated[str, StringConstraints(min_length=1)]
    type: str | None = None
    aliases: tuple[str, ...] = ()
    description: str | None = None
    properties: dict[str, Scalar] = Field(default_factory=dict)
    discovered: bool = False


class Member(_Record):
    """One place in a fact: which entity stands there, and in which role."""

    entity: Identifier
    role: str | None = None


class Fact(_Record):
    """A hyperedge: one statement that ties two or more entities, witnessed by one chunk.

    Attributes:
        relation: its label, for example "supplies".
        members: the entities that it ties, in the order of the statement.
        chunk: id of the chunk that witnesses it.
        confidence: in [0, 1], the extractor's own; 1.0 where it gives none.
    """

    id: str | None = None
    relation: Annotated[str, StringConstraints(min_length=1)]
    members: Annotated[tuple[Member, ...], Field(min_length=2)]
    chunk: Identifier
    confidence: Annotated[float, Field(ge=0.0, le=1.0)] = 1.0

    @field_validator("members", mode="before")
    @classmethod
    def _plain_ids(cls, value: Any) -> Any:
        """Accept a bare entity id wherever a member may stand."""
        if isinstance(value, (list, tuple)):
            return [{"entity": item} if isinstance(item, str) else item for item in value]
        return value


class Relation(_Record):
    """A relation label with the words that describe it."""

    label: Annotated[str, StringConstraints(min_length=1)]
    description: str | None = None


class Chunk(_Record):
    """One passage.

    Attributes:
        title: heading or document title; indexed with the text.
        document_id: the document it was cut from.
        source: where that document lives, for citations.
        about: ids of the entities that the passage is about (its subject, its title).
        mentions: ids of entities that it mentions, where the caller's pipeline linked them.
        metadata: flat values to filter on.
    """

    id: Identifier
    text: str
    title: str | None = None
    document_id: str | None = None
    source: str | None = None
    about: tuple[Identifier, ...] = ()
    mentions: tuple[Identifier, ...] = ()
    metadata: dict[str, Scalar] = Field(default_factory=dict)
