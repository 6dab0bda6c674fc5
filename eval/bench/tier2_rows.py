"""Scores of single questions, kept in a file as they are made, so that a stopped bench goes on where it was."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.machine import library_digest
from eval.systems.tier2 import Checkpoint

__all__ = ["Remembered"]


class Remembered:
    """Rows of scores by what they depend on: the library's source, the checkpoint where one is asked, and a key."""

    def __init__(self, directory: Path, *, checkpoint: Checkpoint) -> None:
        """Read what is there.

        Args:
            directory: holds JSON Lines, one file for each set and part, so that processes may share out the parts.
            checkpoint: its weights and labels are part of the key of every row that they made.
        """
        self._directory = directory
        self._library = library_digest()
        self._checkpoint: Mapping[str, Any] = checkpoint.identity()
        self._rows: dict[str, dict[str, float]] = {}
        for path in sorted(directory.glob("rows-*.jsonl")):
            for line in path.read_text(encoding="utf-8").splitlines():
                kept = json.loads(line)
                self._rows[kept["key"]] = kept["row"]

    def get(self, key: Sequence[str], *, with_model: bool, make: Callable[[], dict[str, float]]) -> dict[str, float]:
        """Return the row of `key`, made now if it is new.

        Args:
            key: set and part, then whatever else tells rows apart.
            with_model: the row depends on the checkpoint.
            make: measures it.
        """
        whole = json.dumps([self._library, self._checkpoint if with_model else "", *key])
        name = hashlib.sha256(whole.encode()).hexdigest()[:32]
        if name not in self._rows:
            row = self._rows[name] = make()
            file_name = "-".join(re.sub(r"\W+", "_", part) for part in ("rows", *key[:2]))
            with (self._directory / f"{file_name}.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": name, "row": row}) + "\n")
        return self._rows[name]
