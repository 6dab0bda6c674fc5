"""`run`: systems on sets, resumable, into one results file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from eval.cache import Cache, code_digest
from eval.config import EvalConfig
from eval.data import EvalSet, load_set
from eval.data.records import Question, first_questions
from eval.errors import HarnessError, SystemUnavailable
from eval.halves import half_of
from eval.machine import provenance
from eval.measure import Measurement, measure
from eval.metrics.tokens import count_tokens
from eval.progress import say
from eval.results import write_results
from eval.summary import loss_counts, set_details, versus, versus_by_group
from eval.systems.base import Bench
from eval.systems.names import parse_name
from eval.systems.registry import make_system, parse_systems

__all__ = ["RunRequest", "run", "run_sets"]


class RunRequest:
    """What to run: the arguments of the command line, checked."""

    def __init__(
        self,
        *,
        data_dir: Path,
        sets: Sequence[str],
        systems: Sequence[str],
        cache_dir: Path,
        config: EvalConfig | None = None,
        limit: int | None = None,
        fresh: bool = False,
        gliner2: str | None = None,
        vectors_dir: Path | None = None,
        linker: str = "catalogue",
    ) -> None:
        self.data_dir = data_dir
        self.sets = list(dict.fromkeys(sets))
        self.systems = parse_systems(systems)
        self.cache = Cache(cache_dir)
        self.config = config or EvalConfig()
        self.limit = limit
        self.fresh = fresh
        self.gliner2 = gliner2
        self.vectors_dir = vectors_dir
        self.linker = linker
        self.half: str | None = None
        self._loaded: dict[str, EvalSet] = {}
        self._benches: dict[tuple[str, EvalConfig], Bench] = {}
        if not self.sets:
            raise HarnessError("no set is named; give --sets NAME[,NAME]")

    def bench(self, data: EvalSet) -> Bench:
        """Return what the systems of one set share; a search over settings reads its graph once."""
        key = (data.name, self.config)
        if key not in self._benches:
            self._benches[key] = Bench(
                data=data, config=self.config, cache=self.cache, gliner2=self.gliner2, linker=self.linker
            )
        return self._benches[key]

    def questions(self, data: EvalSet) -> Sequence[Question]:
        """Return the questions that are asked: all, the first few, or those of the half that a search is held to."""
        chosen = first_questions(data.questions, self.limit)
        if self.half is None:
            return chosen
        found = [item for item in chosen if half_of(item.id) == self.half]
        if not found:
            raise HarnessError(f"{data.name}: no question is in the {self.half} half; give a larger set or --limit")
        return found

    def load(self, name: str) -> EvalSet:
        """Read one set, with vectors from where the request says."""
        if name not in self._loaded:
            folder = self.vectors_dir or self.cache.root / "vectors"
            self._loaded[name] = load_set(
                self.data_dir, name, prepared=[folder], prefer_prepared=self.vectors_dir is not None
            )
        return self._loaded[name]


def run(request: RunRequest, out: Path) -> dict[str, Any]:
    """Measure and write `out` and its details; return the summary.

    Every finished pair of set and system is cached, so a run that was stopped goes on where it was. The
    file is written after each set.

    Raises:
        DataError: a set cannot be read. All sets are read before the first is measured.
        HarnessError: nothing could be measured at all.
    """
    summary, details = run_sets(request, out=out)
    if not any(summary["metrics"].values()):
        reasons = {reason for by_system in summary["skipped"].values() for reason in by_system.values()}
        raise HarnessError(f"nothing was measured: {'; '.join(sorted(reasons))}")
    write_results(out, summary, details)
    return summary


def run_sets(request: RunRequest, *, out: Path | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Measure every system on every set; return the summary and the per-question details."""
    loaded = [request.load(name) for name in request.sets]
    summary: dict[str, Any] = {
        **provenance(),
        "config": request.config.as_json(),
        "linker": request.linker,
        "limit": request.limit,
    }
    for key in (
        "sets",
        "metrics",
        "intervals",
        "breakdown",
        "latency",
        "build",
        "versus_dense",
        "versus_dense_by_group",
        "losses",
        "skipped",
        "errors",
    ):
        summary[key] = {}
    details: dict[str, Any] = {"sets": {}}
    for data in loaded:
        for note in data.notes:
            say(f"{data.name}: {note}")
        _run_set(request, data, summary, details)
        if out is not None:
            write_results(out, summary, details)
    return summary, details


def _run_set(request: RunRequest, data: EvalSet, summary: dict[str, Any], details: dict[str, Any]) -> None:
    config = request.config
    questions = request.questions(data)
    bench = request.bench(data)
    costs = {passage.id: count_tokens(passage.packed) for passage in data.passages}
    summary["sets"][data.name] = {**data.describe(), "questions_asked": len(questions)}
    for key in ("metrics", "intervals", "breakdown", "latency", "build", "versus_dense", "losses"):
        summary[key][data.name] = {}
    rows: dict[str, list[dict[str, Any]]] = {}
    for name in request.systems:
        try:
            found = _measured(request, bench, name, questions, costs)
        except SystemUnavailable as unavailable:
            say(f"{data.name}: {name} is skipped: {unavailable.reason}")
            summary["skipped"].setdefault(data.name, {})[name] = unavailable.reason
            continue
        for key in ("metrics", "intervals", "breakdown", "latency", "build"):
            summary[key][data.name][name] = getattr(found, key)
        if found.errors:
            summary["errors"].setdefault(data.name, {})[name] = found.errors
        rows[name] = found.rows
        if config.is_quick:  # a walk that is seen no deeper than rank ten does not tell where the rest was lost
            rows[name] = [{key: value for key, value in row.items() if key != "losses"} for row in found.rows]
        losses = loss_counts(rows[name])
        if losses:
            summary["losses"][data.name][name] = losses
        _say_line(data.name, name, found)
    summary["versus_dense"][data.name] = versus(rows, config)
    summary["versus_dense_by_group"][data.name] = versus_by_group(rows, questions, config)
    details["sets"][data.name] = set_details(data, questions, rows, costs)


def _measured(
    request: RunRequest, bench: Bench, name: str, questions: Sequence[Question], costs: dict[str, int]
) -> Measurement:
    linker = parse_name(name).linker
    if linker is None:
        return _stored_or_measured(request, bench, name, questions, costs)
    try:
        return _stored_or_measured(request, bench.linked_by(linker), name, questions, costs)
    except SystemUnavailable:
        raise
    except HarnessError as error:  # this set or machine lacks what the one linker needs; the others go on
        raise SystemUnavailable(name, str(error)) from error


def _stored_or_measured(
    request: RunRequest, bench: Bench, name: str, questions: Sequence[Question], costs: dict[str, int]
) -> Measurement:
    system = make_system(name)
    here = Path(__file__).parent
    key = {
        "set": dict(bench.data.checksums),
        "asked": len(questions),
        "config": request.config.as_json(),
        "system": name,
        "identity": dict(system.identity()),
        "gliner2": request.gliner2,
        "linker": bench.linker,
        "harness": code_digest(here / "metrics", here / "stats", here / "measure.py", here / "ledger.py"),
    }
    if request.half is not None:
        key["half"] = request.half
    if not request.fresh:
        stored = request.cache.read("measurements", key)
        if stored is not None:
            return Measurement.from_json(stored)
    start = perf_counter()
    found = measure(system, bench, questions, costs=costs)
    found.build["measured_in_s"] = round(perf_counter() - start, 2)
    request.cache.write("measurements", key, found.as_json())
    return found


def _say_line(set_name: str, system: str, found: Measurement) -> None:
    shown = " ".join(
        f"{label} {found.metrics[metric] * 100:5.1f}"
        for label, metric in (
            ("R@2", "recall@2"),
            ("R@5", "recall@5"),
            ("R@10", "recall@10"),
            ("all@5", "all_gold@5"),
            ("evidence@1024", "evidence@1024"),
        )
        if metric in found.metrics
    )
    say(f"{set_name:<18} {system:<22} {shown}  {found.latency['ms']['p50']:8.2f} ms")
    for error in found.errors[:2]:
        say(f"    {error}")
