"""`fit`: search settings on one set's development half, and confirm them on the others.

Coordinate search: settings are visited in the order given, each takes the value with the best objective
while the others stand, until a round changes nothing. The objective is the mean of recall at 2 and 5 and
all-gold at 5, over questions of the development halves. A setting is kept only if it helps there; the other
half and the other sets then say whether it holds, with intervals. Nothing is ever chosen by a test half.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.errors import HarnessError
from eval.halves import DEV, TEST, half_of
from eval.machine import provenance
from eval.progress import say
from eval.results import read_results, write_results
from eval.run import RunRequest, run_sets
from eval.stats.aggregate import compare_columns

__all__ = ["DEFAULT_GRID", "fit", "parse_grid"]

OBJECTIVE = ("recall@2", "recall@5", "all_gold@5")
LEAST_GAIN = 0.001
"""A tenth of a point: less is noise of a few questions."""
MAX_ROUNDS = 3

DEFAULT_GRID: dict[str, tuple[Any, ...]] = {
    "weights.translated": (0.4, 0.6, 0.8, 1.0),
    "weights.similarity": (0.2, 0.3, 0.4, 0.6),
    "weights.lexical": (0.0, 0.1, 0.2),
    "coverage": (0.25, 0.5, 0.75),
    "walk.mention_weight": (0.005, 0.01, 0.02, 0.05),
    "walk.overlap_sharpness": (2.0, 4.0, 6.0),
    "walk.first_stage_share": (0.05, 0.1, 0.15),
    "entry.min_form_weight": (0.1, 0.15, 0.25),
    "walk.sure_weight": (0.0, 0.2, 0.3, 0.4),
}


def parse_grid(items: Iterable[str]) -> dict[str, tuple[Any, ...]]:
    """Read `path=value,value` items.

    Raises:
        HarnessError: an item has another form.
    """
    from eval.systems.names import parse_name

    grid: dict[str, tuple[Any, ...]] = {}
    for item in items:
        path, equals, values = item.partition("=")
        if not equals or not values:
            raise HarnessError(f"{item!r} cannot be read; write path=value,value")
        grid[path.strip()] = tuple(
            parse_name(f"x[{path.strip()}={value}]").settings[path.strip()] for value in values.split(",")
        )
    return grid


SetRows = dict[str, list[dict[str, Any]]]
"""Per-question rows by set."""


class _Search:
    """Measures variants of one system and remembers them; the runs themselves are cached on disk."""

    def __init__(self, request: RunRequest, system: str) -> None:
        self._request = request
        request.config = request.config.quick()
        self._defaults = _library_defaults()
        self._system = system
        self._known: dict[tuple[str, str | None], SetRows] = {}

    def changed(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that are not the library's own: a default that is named is no other system."""
        return {path: value for path, value in settings.items() if value != self._default(path)}

    def name(self, settings: Mapping[str, Any]) -> str:
        """Return the system's name with the settings that differ from the library's."""
        changed = self.changed(settings)
        if not changed:
            return self._system
        return f"{self._system}[{';'.join(f'{path}={value}' for path, value in sorted(changed.items()))}]"

    def _default(self, path: str) -> Any:
        value: Any = self._defaults
        for room in path.split("."):
            value = value.get(room) if isinstance(value, dict) else None
        return value

    def rows(self, settings: Mapping[str, Any], sets: Sequence[str], half: str | None = None) -> SetRows:
        """Return per-question rows by set, of one half or of all questions."""
        name = self.name(settings)
        known = self._known.setdefault((name, half), {})
        fresh = [item for item in sets if item not in known]
        if fresh:
            self._request.sets, self._request.systems, self._request.half = fresh, [name], half
            summary, details = run_sets(self._request)
            for set_name in fresh:
                found = details["sets"][set_name]["systems"].get(name)
                if found is None:
                    raise HarnessError(f"{set_name}: {name} was not measured: {summary['skipped'].get(set_name)}")
                known[set_name] = found
        return {item: known[item] for item in sets}

    def objective(self, settings: Mapping[str, Any], sets: Sequence[str]) -> float:
        """Return the objective on the development halves, each set weighing the same."""
        means: list[float] = []
        for rows in self.rows(settings, sets, DEV).values():
            values = [float(row["metrics"][metric]) for row in rows for metric in OBJECTIVE]
            means.append(sum(values) / max(1, len(values)))
        return sum(means) / len(means)


def _library_defaults() -> dict[str, Any]:
    from latence_retrieval.settings import Settings

    return Settings().model_dump(mode="json")


def fit(
    request: RunRequest,
    *,
    system: str,
    on: Sequence[str],
    confirm: Sequence[str],
    grid: Mapping[str, Sequence[Any]],
    out: Path,
) -> dict[str, Any]:
    """Search, confirm, and write what was tried beside other fits of the file; return the results."""
    search = _Search(request, system)
    chosen: dict[str, Any] = {}
    best = search.objective(chosen, on)
    tried: list[dict[str, Any]] = [{"settings": {}, "objective": round(best, 6)}]
    for _ in range(MAX_ROUNDS):
        before = dict(chosen)
        for path, values in grid.items():
            for value in values:
                candidate = {**chosen, path: value}
                score = search.objective(candidate, on)
                tried.append({"settings": candidate, "objective": round(score, 6)})
                if score >= best + LEAST_GAIN:
                    best, chosen = score, candidate
                    say(f"objective {best:.4f} with {search.name(chosen)}")
        if chosen == before:
            break
    result = {
        **provenance(),
        "system": system,
        "linker": request.linker,
        "fitted_on": list(on),
        "questions": "development halves",
        "settings": search.changed(chosen),
        "objective_of_defaults": tried[0]["objective"],
        "objective": round(best, 6),
        "tried": tried,
        "confirmation": _confirm(search, chosen, on, confirm, request),
    }
    write_results(out, {"metrics": {}, "fits": {**_fits_of(out), "+".join(on): result}})
    return result


def _fits_of(out: Path) -> dict[str, Any]:
    """Return the fits that a results file holds already: one file may hold one a set."""
    if not out.is_file():
        return {}
    found: dict[str, Any] = read_results(out).get("fits", {})
    return found


def _confirm(
    search: _Search, chosen: Mapping[str, Any], on: Sequence[str], confirm: Sequence[str], request: RunRequest
) -> dict[str, Any]:
    """Compare the chosen settings with the defaults on each half of each set."""
    sets = list(dict.fromkeys([*on, *confirm]))
    ours, theirs = search.rows(chosen, sets), search.rows({}, sets)
    found: dict[str, Any] = {}
    for name in sets:
        for half in (DEV, TEST):
            places = [place for place, row in enumerate(ours[name]) if half_of(row["id"]) == half]
            if not places:
                continue
            found.setdefault(name, {})[half] = {
                metric: compare_columns(
                    [ours[name][place]["metrics"][metric] for place in places],
                    [theirs[name][place]["metrics"][metric] for place in places],
                    config=request.config,
                )
                for metric in OBJECTIVE
            }
    return found
