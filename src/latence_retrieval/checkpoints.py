"""A model checkpoint that the caller names, loaded once and only when it is first used.

The base of every extra that runs a model, and open to third-party plugins. Naming a checkpoint reads no disk and
imports nothing heavy. A hub id is looked for in the local cache only: weights are never downloaded unless the caller
said `allow_download=True` (adr/0021).
"""

from __future__ import annotations

import importlib
import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from latence_retrieval.errors import InvalidInputError, ModelError, needs_extra

__all__ = ["LazyCheckpoint", "checked_count", "import_packages"]

T = TypeVar("T")

_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?")
_MAX_REASON_CHARS = 300
"""A library's message may list every tensor of a model; the first words tell what is wrong."""


class LazyCheckpoint(Generic[T]):
    """One model behind a lock: absent until `get`, then the same object for every thread.

    A load that failed is remembered and raised again, so that a query does not pay for the same failure twice;
    `warm_up` tries anew.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        imports: Callable[[], Any],
        load: Callable[[Path], T],
        allow_download: bool = False,
        revision: str | None = None,
    ) -> None:
        """Name a checkpoint.

        Args:
            model: a directory, or a hub id such as "owner/name".
            imports: imports what loading needs; its errors (a missing extra) pass through.
            load: opens the checkpoint in a directory; whatever it raises becomes one `ModelError`.
            allow_download: fetch a hub id that is not in the local cache.
            revision: commit or tag of a hub id.

        Raises:
            InvalidInputError: `model` is not a non-empty string or path.
        """
        if not isinstance(model, (str, os.PathLike)) or not str(os.fspath(model)).strip():
            raise InvalidInputError(
                "model",
                f"is {model!r}",
                fix="name a checkpoint: a local directory or a hub id (there is no default)",
            )
        self.model = str(os.fspath(model))
        self._imports = imports
        self._load = load
        self._allow_download = allow_download
        self._revision = revision
        self._lock = threading.Lock()
        self._outcome: tuple[T | None, Exception | None] | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether the model is in memory."""
        return self._outcome is not None and self._outcome[1] is None

    def get(self) -> T:
        """Return the model, loading it on the first call.

        Raises:
            MissingExtraError: a package that it needs is absent.
            ModelError: the checkpoint is missing or cannot be opened.
        """
        outcome = self._outcome
        if outcome is None:
            with self._lock:
                outcome = self._outcome
                if outcome is None:
                    outcome = self._outcome = self._attempt()
        loaded, error = outcome
        if error is not None:
            raise error.with_traceback(None)
        return loaded  # type: ignore[return-value]  # None only together with an error

    def warm_up(self) -> T:
        """Load now, trying again where an earlier load failed; return the model."""
        with self._lock:
            if self._outcome is not None and self._outcome[1] is not None:
                self._outcome = None
        return self.get()

    def _attempt(self) -> tuple[T | None, Exception | None]:
        try:
            self._imports()
            directory = self._locate()
            return self._open(directory), None
        except Exception as error:
            return None, error

    def _open(self, directory: Path) -> T:
        try:
            return self._load(directory)
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(
                "model",
                self.model,
                f"cannot be loaded ({_reason(error)})",
                fix="pass a complete checkpoint of the kind that this extra reads",
            ) from error

    def _locate(self) -> Path:
        """Return the checkpoint's directory, from the hub's local cache where `model` is a hub id."""
        directory = Path(self.model).expanduser()
        if directory.is_dir():
            return directory
        if directory.exists():
            raise ModelError("model", self.model, "is a file", fix="pass the directory that holds the checkpoint")
        if not _HUB_ID.fullmatch(self.model):
            raise ModelError(
                "model", self.model, "no such directory", fix="pass the directory that holds the checkpoint"
            )
        return self._from_hub()

    def _from_hub(self) -> Path:
        from huggingface_hub import (
            snapshot_download,  # every package that opens checkpoints brings it
        )

        try:
            return Path(
                snapshot_download(self.model, revision=self._revision, local_files_only=not self._allow_download)
            )
        except Exception as error:
            if self._allow_download:
                problem, fix = f"cannot be downloaded ({_reason(error)})", "check the id and the connection"
            else:
                problem = "is neither a directory here nor a checkpoint in the local Hugging Face cache"
                fix = f"run `hf download {self.model}` first, pass a local directory, or pass allow_download=True"
            raise ModelError("model", self.model, problem, fix=fix) from error


def import_packages(extra: str, *packages: str, purpose: str) -> None:
    """Import each package in order, so that the first that is absent names the install line.

    Args:
        extra: name of the extra that brings them.
        packages: top-level modules, those first that the later ones need.
        purpose: what the caller wanted them for, in words.

    Raises:
        MissingExtraError: one of them is absent; what else fails in an import passes through.
    """
    for package in packages:
        with needs_extra(extra, package=package, purpose=purpose):
            importlib.import_module(package)


def checked_count(argument: str, value: int | None) -> int | None:
    """Return an optional count of at least 1, such as threads, or None for the model's own.

    Raises:
        InvalidInputError: it is something else.
    """
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise InvalidInputError(argument, f"is {value!r}", fix="pass a count of at least 1, or None")
    return value


def _reason(error: Exception) -> str:
    """Return the error's type and the first line of its message, cut to a readable length."""
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    text = f"{type(error).__name__}: {first}" if first else type(error).__name__
    return text if len(text) <= _MAX_REASON_CHARS else text[: _MAX_REASON_CHARS - 1] + "…"
