"""The plugin seam: what is installed under the entry-point group `latence.retrieval`, and in which state.

A plugin is one entry point named `<kind>.<name>` (`entry.gliner2`) whose target is a *light factory*: a callable
whose module imports no heavy package. This package's own extras come through the same door as a third party's.

The plugin protocol, version 1. The target carries up to three plain attributes, so that a plugin need not import
this package to declare itself:

    latence_plugin_protocol = 1                    required: the version of this protocol that it was written for
    latence_plugin_requires = ("gliner2", "torch") optional: top-level modules that must be importable before use
    latence_plugin_extra = "gliner2"               optional: the extra of its own distribution that brings them

`load` looks for the required modules without importing them and names the exact install line where one is absent;
calling the target with the caller's options gives the object, which implements the port of its kind. See
`KINDS` for the kinds and adr/0020 for why this shape.

Nothing is scanned at import. The first call scans the installed distributions; the scan is kept until `refresh`.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import import_module, invalidate_caches
from importlib.metadata import Distribution, EntryPoint, distribution, distributions
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ConfigDict

from latence_retrieval.errors import (
    BrokenPluginError,
    DuplicatePluginError,
    MissingExtraError,
    PluginError,
    UnknownPluginError,
)

__all__ = [
    "GROUP",
    "KINDS",
    "PROTOCOL_VERSION",
    "PluginInfo",
    "PluginState",
    "create",
    "discover",
    "load",
    "refresh",
]

GROUP = "latence.retrieval"
"""The entry-point group."""

PROTOCOL_VERSION = 1
"""The plugin protocol that this release speaks; a target that declares another is broken, never guessed at."""

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "entry": "EntryTier",
        "relq": "RelationSignal",
        "rerank": "Reranker",
        "kv": "KeyValueBackend",
        "index": "EntityIndex",
        "embedding": "EmbeddingProvider",
        "tokens": "TokenCounter",
    }
)
"""What stands before the dot of a plugin's name, and the port that the created object implements."""

_NAME = re.compile(r"[a-z]+\.[a-z0-9][a-z0-9_-]*")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class PluginState(StrEnum):
    """Whether a plugin can be used."""

    READY = "ready"
    NEEDS_EXTRA = "needs-extra"
    BROKEN = "broken"


class PluginInfo(BaseModel):
    """One installed plugin, as `discover` found it.

    Attributes:
        name: `<kind>.<name>`, unique among usable plugins.
        distribution: what registered it; several, joined by a comma, where they clash.
        version: that distribution's version.
        state: ready, needs-extra or broken.
        detail: the exact install line where an extra is missing, the error where it is broken, else "".
    """

    model_config = ConfigDict(frozen=True)

    name: str
    distribution: str
    version: str
    state: PluginState
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Registration:
    """One entry point as the metadata spells it; `error` where not even that could be read."""

    name: str
    value: str
    distribution: str
    version: str
    error: BaseException | None = None


@dataclass(slots=True)
class _Known:
    """What was scanned and loaded so far in this process."""

    registry: dict[str, tuple[_Registration, ...]] | None = None
    targets: dict[str, Callable[..., Any] | BaseException] = field(default_factory=dict)


_lock = threading.Lock()
_known = _Known()


def discover() -> tuple[PluginInfo, ...]:
    """Return every installed plugin with its state, sorted by name.

    Imports each plugin's light module, one at a time and isolated: whatever one of them raises makes that one
    broken, and the others are unaffected. No optional dependency is imported.
    """
    return tuple(_inspect(name, entries) for name, entries in sorted(_registrations().items()))


def load(name: str) -> Callable[..., Any]:
    """Return a plugin's factory, ready to be called with its options.

    Args:
        name: `<kind>.<name>`, such as "entry.gliner2".

    Raises:
        UnknownPluginError: no plugin has that name; the message lists those there are.
        DuplicatePluginError: more than one distribution registers it.
        BrokenPluginError: its module, target or protocol version is unusable.
        MissingExtraError: a package that it requires is absent; the message is the install line.
    """
    registry = _registrations()
    entries = registry.get(name)
    if entries is None:
        raise UnknownPluginError(name, sorted(registry))
    if len(entries) > 1:
        raise DuplicatePluginError(name, [entry.distribution for entry in entries])
    target = _target(entries[0])
    _require_packages(entries[0], target)
    return target


def create(name: str, **options: Any) -> Any:
    """Load a plugin and call its factory with `options`.

    What the factory itself raises (a missing `model=`, say) passes through: it is the caller's to see.

    Args:
        name: as for `load`.
        options: keyword arguments of that plugin, stated in its own documentation.

    Raises:
        PluginError: as for `load`.
    """
    return load(name)(**options)


def refresh() -> None:
    """Forget the scan and every load result, so that the next call sees what was installed meanwhile."""
    invalidate_caches()
    with _lock:
        _known.registry = None
        _known.targets = {}


def _registrations() -> dict[str, tuple[_Registration, ...]]:
    """Return name -> its registrations, scanning the installed distributions at most once."""
    with _lock:
        if _known.registry is None:
            found: dict[str, list[_Registration]] = {}
            for entry in _scan():
                found.setdefault(entry.name, []).append(entry)
            _known.registry = {
                name: tuple(sorted(set(entries), key=lambda entry: (entry.distribution, entry.value)))
                for name, entries in found.items()
            }
        return _known.registry


def _scan() -> Iterator[_Registration]:
    """Yield this group's entry points, distribution by distribution.

    `importlib.metadata.entry_points()` parses every file at once, so one malformed line in an unrelated
    distribution raises for all; here only files that mention the group are parsed, each on its own.
    """
    seen: set[str] = set()
    for candidate in distributions():
        try:
            if GROUP not in (candidate.read_text("entry_points.txt") or ""):
                continue
            name = candidate.metadata["Name"] or "unnamed distribution"
            key = re.sub(r"[-_.]+", "-", name).lower()
            if key in seen:  # an earlier directory of sys.path shadows this one
                continue
            seen.add(key)
            winner = distribution(name)
        except Exception:  # noqa: S112 - metadata that cannot be read names no plugin
            continue
        yield from _entries(winner, name)


def _entries(dist: Distribution, name: str) -> Iterator[_Registration]:
    """Yield the registrations of one distribution, or one that carries the error of reading them."""
    version = "unknown"
    try:
        version = dist.version
        points: tuple[EntryPoint, ...] = tuple(dist.entry_points.select(group=GROUP))
    except Exception as error:
        yield _Registration(name, "", name, version, error)
        return
    for point in points:
        yield _Registration(point.name, point.value, name, version)


def _inspect(name: str, entries: tuple[_Registration, ...]) -> PluginInfo:
    state, detail = PluginState.READY, ""
    try:
        load(name)
    except MissingExtraError as error:
        state, detail = PluginState.NEEDS_EXTRA, error.install
    except PluginError as error:
        state, detail = PluginState.BROKEN, str(error)
    return PluginInfo(
        name=name,
        distribution=", ".join(entry.distribution for entry in entries),
        version=", ".join(entry.version for entry in entries),
        state=state,
        detail=detail,
    )


def _target(entry: _Registration) -> Callable[..., Any]:
    """Import a plugin's target once; its failure is kept too, and raised again for each caller.

    No lock is held while importing: a plugin may import this module, and two threads that each hold one lock
    and want the other's would wait for ever.
    """
    outcome = _known.targets.get(entry.name)
    if outcome is None:
        try:
            outcome = _checked(entry)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            outcome = error
        outcome = _known.targets.setdefault(entry.name, outcome)
    if isinstance(outcome, MissingExtraError):
        raise outcome
    if isinstance(outcome, BaseException):
        raise BrokenPluginError(entry.name, outcome) from outcome
    return outcome


def _checked(entry: _Registration) -> Callable[..., Any]:
    """Import the target and hold it to the protocol."""
    if entry.error is not None:
        raise entry.error
    kind = entry.name.partition(".")[0]
    if not _NAME.fullmatch(entry.name) or kind not in KINDS:
        raise ValueError(f"its name is not <kind>.<name> with a kind of {', '.join(KINDS)}")
    module_name, _, path = entry.value.partition("[")[0].strip().partition(":")
    target: Any = import_module(module_name.strip())
    for attribute in path.strip().split(".") if path.strip() else ():
        target = getattr(target, attribute)
    if not callable(target):
        raise TypeError(f"its target {entry.value} is not callable")
    declared = getattr(target, "latence_plugin_protocol", None)
    if declared != PROTOCOL_VERSION or isinstance(declared, bool):
        raise ValueError(
            f"its target declares latence_plugin_protocol = {declared!r}, and this release speaks {PROTOCOL_VERSION}"
        )
    _declared_packages(target)
    return target  # type: ignore[no-any-return]  # narrowed to a callable above, of unknown signature


def _declared_packages(target: Callable[..., Any]) -> tuple[str, ...]:
    """Return the modules that a target requires.

    Raises:
        TypeError: they are not a tuple or list of top-level module names.
    """
    declared = getattr(target, "latence_plugin_requires", ())
    if not isinstance(declared, (tuple, list)) or not all(
        isinstance(package, str) and _IDENTIFIER.fullmatch(package) for package in declared
    ):
        raise TypeError(f"its latence_plugin_requires is not a tuple of top-level module names: {declared!r}")
    return tuple(declared)


def _require_packages(entry: _Registration, target: Callable[..., Any]) -> None:
    """Raise MissingExtraError for the first required package that is absent, without importing any."""
    for package in _declared_packages(target):
        if not _is_importable(package):
            raise MissingExtraError(
                str(getattr(target, "latence_plugin_extra", None) or ""),
                package=package,
                purpose=f"plugin {entry.name!r}",
                distribution=entry.distribution,
            )


def _is_importable(package: str) -> bool:
    if sys.modules.get(package) is not None:
        return True
    try:
        return find_spec(package) is not None
    except (ImportError, ValueError):  # ValueError: None stands in sys.modules
        return False
