"""Tier 2 as the harness runs it: its checkpoint, the labels that it is asked for, and one forward pass a question."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from eval.errors import HarnessError

if TYPE_CHECKING:
    from latence_retrieval.ports.entry_tier import EntryRequest, EntryTier, TierOutcome

__all__ = ["LABELS_FILE", "Checkpoint", "OncePerQuestion"]

LABELS_FILE = "labels.json"
"""Entity labels that a checkpoint wants to be asked for, a JSON list beside its weights."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A GLiNER2 checkpoint and the entity labels for it.

    Attributes:
        model: its directory, or a hub id.
        labels: what spans are asked as; None takes each snapshot's own entity types.
    """

    model: str
    labels: tuple[str, ...] | None = None

    @classmethod
    def named(cls, model: str, labels: Sequence[str] | None) -> Checkpoint:
        """Return a checkpoint with the labels given, else with those of its `labels.json`, else with none.

        Raises:
            HarnessError: the file holds something else than a list of words.
        """
        path = Path(model) / LABELS_FILE
        if labels is None and path.is_file():
            try:
                labels = json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise HarnessError(f"{path} is no JSON ({error})") from error
        if labels is not None and (not isinstance(labels, list) or not all(isinstance(one, str) for one in labels)):
            raise HarnessError(f"{path} holds {labels!r}; write a list of labels")
        return cls(model, tuple(labels) if labels else None)

    def identity(self) -> dict[str, Any]:
        """Return what results depend on: the weights themselves, where they are files here, and the labels."""
        digest = hashlib.sha256(self.model.encode())
        for path in sorted(Path(self.model).glob("*.safetensors")):
            digest = hashlib.sha256(path.read_bytes())
        return {"checkpoint": digest.hexdigest()[:16], "labels": self.labels}


class OncePerQuestion:
    """An `EntryTier` that answers a question again from memory until it is told to forget.

    The harness asks one question with several budgets. The timed call pays for the model; the others need not.
    """

    def __init__(self, tier: EntryTier) -> None:
        self._tier = tier
        self._kept: tuple[str, TierOutcome] | None = None

    @property
    def name(self) -> str:
        """The tier's own name."""
        return self._tier.name

    def enter(self, request: EntryRequest) -> TierOutcome:
        """Return the tier's outcome, computed once in a row of equal questions."""
        if self._kept is None or self._kept[0] != request.query:
            self._kept = (request.query, self._tier.enter(request))
        return self._kept[1]

    def forget(self) -> None:
        """Compute the next outcome anew, whatever was asked before."""
        self._kept = None
