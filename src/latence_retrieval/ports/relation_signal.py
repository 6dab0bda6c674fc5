"""Which relation a question asks for: the signal `relq`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

__all__ = ["RelationSignal"]


@runtime_checkable
class RelationSignal(Protocol):
    """Scores relation labels against a question.

    Registered as plugins `relq.<name>`. Constructing loads nothing; calls are safe from threads. A signal that
    compares vectors may have an attribute `reads_open_question`; where that is true, the embedding it is given is
    the query's less half of the vectors of the entities that the query names.
    """

    @property
    def name(self) -> str:
        """Short name that results carry."""
        ...

    def relation_scores(
        self, query: str, labels: Mapping[str, str | None], embedding: Sequence[float] | None
    ) -> Mapping[str, float] | None:
        """Return a score in [0, 1] for some or all of `labels` (label -> description or None).

        A label left out counts as 0.0 (scored, not asked for). None means that the signal is absent for this
        query, and its weight goes to the others.
        """
        ...
