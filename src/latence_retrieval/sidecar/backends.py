"""Which store carries a snapshot's tables: SQLite from the standard library, or a plugin `kv.<name>`."""

from __future__ import annotations

from latence_retrieval.ports.key_value import KeyValueBackend
from latence_retrieval.sidecar.sqlite import SqliteBackend

__all__ = ["backend_named"]


def backend_named(name: str) -> KeyValueBackend:
    """Return the backend of that name.

    Raises:
        PluginError: no installed plugin `kv.<name>`, or its extra is missing.
    """
    if name == SqliteBackend.name:
        return SqliteBackend()
    from latence_retrieval import plugins

    backend: KeyValueBackend = plugins.create(f"kv.{name}")
    return backend
