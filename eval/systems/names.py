"""How the command line names a system: a base, perhaps a linker, a variant, settings in brackets.

tier1                                  the base with every default
tier1@spacy                            over a sidecar that another linker made than the run's
tier1:no-walk                          a named variant
tier0+1[weights.lexical=0;walk.max_pushes=50]    settings by dotted path
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eval.errors import HarnessError

__all__ = ["SystemName", "apply_overrides", "parse_name", "split_names"]

_NAME = re.compile(r"(?P<base>[\w+.-]+)(?:@(?P<linker>\w+))?(?::(?P<variant>[\w-]+))?(?:\[(?P<settings>[^\[\]]*)\])?")


@dataclass(frozen=True, slots=True)
class SystemName:
    """A parsed name; `settings` maps dotted paths to JSON values."""

    text: str
    base: str
    linker: str | None
    variant: str | None
    settings: Mapping[str, Any]


def split_names(text: str) -> list[str]:
    """Split at commas that stand outside brackets."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text) if part.strip()]


def parse_name(text: str) -> SystemName:
    """Parse one name.

    Raises:
        HarnessError: it has another form.
    """
    match = _NAME.fullmatch(text.strip())
    if match is None:
        raise HarnessError(
            f"system {text!r} cannot be read; write base, base@linker, base:variant or base[path=value;path=value]"
        )
    settings: dict[str, Any] = {}
    for part in (match["settings"] or "").split(";"):
        if not part.strip():
            continue
        path, equals, value = part.partition("=")
        if not equals:
            raise HarnessError(f"system {text!r}: {part!r} has no value; write path=value")
        settings[path.strip()] = _value(value.strip())
    return SystemName(
        text=text.strip(), base=match["base"], linker=match["linker"], variant=match["variant"], settings=settings
    )


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def apply_overrides(settings: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested settings with dotted paths replaced.

    Raises:
        HarnessError: a path names no setting; the message lists those beside it.
    """
    result = json.loads(json.dumps(settings))
    for path, value in overrides.items():
        *rooms, last = path.split(".")
        place = result
        for room in rooms:
            place = place.get(room) if isinstance(place, dict) else None
        if not isinstance(place, dict) or last not in place:
            known = ", ".join(sorted(place)) if isinstance(place, dict) else ", ".join(sorted(result))
            raise HarnessError(f"no setting is called {path!r}; there are: {known}")
        place[last] = value
    return dict(result)
