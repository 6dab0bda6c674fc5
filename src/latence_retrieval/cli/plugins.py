"""`latence-retrieval plugins`: what is installed, and in which state."""

from __future__ import annotations

import argparse
import json

from latence_retrieval.cli.exits import ExitCode
from latence_retrieval.cli.verbs import Verbs, add_verb
from latence_retrieval.plugins import KINDS, PluginState, discover

__all__ = ["add_to"]


def add_to(verbs: Verbs) -> None:
    """Add the verb to the program."""
    parser = add_verb(verbs, "plugins", _run, summary="List installed plugins and whether each can be used.")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")


def _run(arguments: argparse.Namespace) -> int:
    found = discover()
    if arguments.json:
        print(json.dumps([plugin.model_dump(mode="json") for plugin in found]))
    elif not found:
        print("no plugin is installed")
    else:
        width = max(len(plugin.name) for plugin in found)
        for plugin in found:
            port = KINDS.get(plugin.name.partition(".")[0], "unknown kind")
            detail = f"  {plugin.detail}" if plugin.detail else ""
            print(
                f"{plugin.name:<{width}}  {plugin.state.value:<11}  {port}, {plugin.distribution} {plugin.version}{detail}"
            )
    is_broken = any(plugin.state is PluginState.BROKEN for plugin in found)
    return ExitCode.NOTHING if is_broken else ExitCode.DONE
