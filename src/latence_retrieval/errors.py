"""Every error this package raises on purpose.

    LatenceRetrievalError
    ├── InvalidInputError            also a ValueError: a caller's argument cannot be used
    │   ├── BlankQueryError          the query is empty or only white space
    │   └── DimensionMismatchError   a vector has another dimension than its counterpart
    ├── RecordError                  a line of an input file is not a valid record
    ├── SidecarError                 a published snapshot cannot be used
    │   ├── SidecarNotFoundError     nothing is there
    │   ├── SidecarCorruptError      truncated, altered, or not a sidecar at all
    │   ├── SidecarVersionError      written by a newer (or retired) format or normaliser
    │   └── SidecarMismatchError     another tenant, embedding model or dimension than asked for
    ├── BuildError                   a sidecar could not be published
    ├── PluginError                  a plugin cannot be used
    │   ├── UnknownPluginError       no plugin has that name
    │   ├── DuplicatePluginError     two distributions claim one name
    │   ├── BrokenPluginError        the plugin's own code failed while loading
    │   └── MissingExtraError        also an ImportError: an optional dependency is absent
    ├── ModelError                   a checkpoint cannot be loaded
    ├── TierUnavailableError         an entry tier cannot run on this query; recorded, never raised to the caller
    └── TierError                    an entry tier failed and `strict=True`

A caller's mistake raises. Absence returns empty. A stage that degraded is recorded in the result.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

__all__ = [
    "BlankQueryError",
    "BrokenPluginError",
    "BuildError",
    "DimensionMismatchError",
    "DuplicatePluginError",
    "InvalidInputError",
    "LatenceRetrievalError",
    "MissingExtraError",
    "ModelError",
    "PluginError",
    "RecordError",
    "SidecarCorruptError",
    "SidecarError",
    "SidecarMismatchError",
    "SidecarNotFoundError",
    "SidecarVersionError",
    "TierError",
    "TierUnavailableError",
    "UnknownPluginError",
    "needs_extra",
]


class LatenceRetrievalError(Exception):
    """Base of every error that this package raises on purpose."""


class InvalidInputError(LatenceRetrievalError, ValueError):
    """A caller's argument cannot be used; the message names it, its value and the remedy."""

    def __init__(self, argument: str, problem: str, *, fix: str) -> None:
        self.argument = argument
        self.problem = problem
        self.fix = fix
        super().__init__(f"{argument}: {problem}; {fix}")


class BlankQueryError(InvalidInputError):
    """The query is empty or only white space."""

    def __init__(self) -> None:
        super().__init__("query", "is blank", fix="pass the question as non-empty text")


class DimensionMismatchError(InvalidInputError):
    """A vector has another dimension than the vectors it is to be compared with."""

    def __init__(self, argument: str, *, expected: int, actual: int, fix: str | None = None) -> None:
        self.expected = expected
        self.actual = actual
        super().__init__(
            argument,
            f"has dimension {actual}, expected {expected}",
            fix=fix or "use the embedding model that the stored vectors were made with",
        )


class RecordError(LatenceRetrievalError):
    """A line of an input file is not a valid record."""

    def __init__(self, path: Path | str, line: int, problem: str) -> None:
        self.path = str(path)
        self.line = line
        self.problem = problem
        super().__init__(f"{path}, line {line}: {problem}")


class SidecarError(LatenceRetrievalError):
    """A published snapshot cannot be used; the message names the file and the fix."""

    def __init__(self, path: Path | str, problem: str, *, fix: str) -> None:
        self.path = str(path)
        self.problem = problem
        self.fix = fix
        super().__init__(f"{path}: {problem}; {fix}")


class SidecarNotFoundError(SidecarError):
    """There is no sidecar at that path."""


class SidecarCorruptError(SidecarError):
    """A file of the snapshot is truncated, altered, or not of the expected kind."""


class SidecarVersionError(SidecarError):
    """The snapshot has a format or normaliser version that this release does not read."""


class SidecarMismatchError(SidecarError):
    """The snapshot belongs to another tenant, embedding model or dimension."""


class BuildError(LatenceRetrievalError):
    """A sidecar could not be published; nothing at the target was changed."""


class PluginError(LatenceRetrievalError):
    """A plugin cannot be used."""


class UnknownPluginError(PluginError):
    """No installed plugin has that name."""

    def __init__(self, name: str, available: Sequence[str]) -> None:
        self.name = name
        self.available = tuple(available)
        known = ", ".join(available) if available else "none"
        super().__init__(f"no plugin is named {name!r}; installed plugins: {known}")


class DuplicatePluginError(PluginError):
    """Two installed distributions claim one plugin name."""

    def __init__(self, name: str, distributions: Sequence[str]) -> None:
        self.name = name
        self.distributions = tuple(distributions)
        super().__init__(
            f"plugin {name!r} is registered by more than one distribution "
            f"({', '.join(distributions)}); uninstall all but one"
        )


class BrokenPluginError(PluginError):
    """A plugin's own code failed while it was being loaded."""

    def __init__(self, name: str, cause: BaseException) -> None:
        self.name = name
        super().__init__(
            f"plugin {name!r} failed to load: {type(cause).__name__}: {cause}; "
            "repair or uninstall the distribution that registers it"
        )


class MissingExtraError(PluginError, ImportError):
    """An optional dependency is not installed; the message is the install line."""

    def __init__(self, extra: str, *, package: str, purpose: str, distribution: str = "latence-retrieval") -> None:
        self.extra = extra
        self.package = package
        self.purpose = purpose
        self.install = f"pip install '{distribution}[{extra}]'" if extra else f"pip install {package}"
        ImportError.__init__(
            self, f"{purpose} needs the package {package!r}, which is not installed; run: {self.install}"
        )


class ModelError(LatenceRetrievalError):
    """A checkpoint cannot be loaded; the message names the argument that gave it."""

    def __init__(self, argument: str, value: str, problem: str, *, fix: str) -> None:
        self.argument = argument
        self.value = value
        self.problem = problem
        self.fix = fix
        super().__init__(f"{argument}={value!r}: {problem}; {fix}")


class TierError(LatenceRetrievalError):
    """An entry tier or signal failed while `strict=True`."""

    def __init__(self, tier: str, cause: BaseException) -> None:
        self.tier = tier
        super().__init__(
            f"{tier} failed: {type(cause).__name__}: {cause}; "
            "pass strict=False to record this and go on with the other tiers"
        )


class TierUnavailableError(LatenceRetrievalError):
    """An entry tier cannot run on this query or snapshot (no embedding, no vectors); it is recorded as skipped."""


@contextmanager
def needs_extra(extra: str, *, package: str, purpose: str) -> Iterator[None]:
    """Turn the absence of `package` itself into `MissingExtraError`; other failures pass through.

    Wrap the import *statement*, so that type checkers still see the module.

    Args:
        extra: name of the extra that brings the package.
        package: the top-level module that may be absent.
        purpose: what the caller wanted it for, in words.

    Raises:
        MissingExtraError: exactly when `package` (or a parent of it) cannot be found.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == package.partition(".")[0]:
            raise MissingExtraError(extra, package=package, purpose=purpose) from error
        raise
