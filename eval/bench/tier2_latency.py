"""Cold and warm cost of tier 2 beside the structural path, and one model among eight threads."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latence_retrieval.evidence import retrieve_evidence
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval_gliner2 import Gliner2Tier

__all__ = ["measure_latency"]

COLD_RUNS = 3

_COLD = """
import json, sys, time
start = time.perf_counter()
import latence_retrieval, latence_retrieval_gliner2
imported = time.perf_counter()
heavy = sorted({"torch", "gliner2", "transformers", "numpy"} & set(sys.modules))
tier = latence_retrieval_gliner2.Gliner2Tier(model=sys.argv[1])
made = time.perf_counter()
tier.warm_up()
loaded = time.perf_counter()
tier.recognise("Who directed The Third Man?", {"entity": None}, {})
first = time.perf_counter()
print(json.dumps({"import package ms": 1e3 * (imported - start), "construct ms": 1e3 * (made - imported),
    "load ms": 1e3 * (loaded - made), "first query ms": 1e3 * (first - loaded), "heavy modules after import": heavy}))
"""


def measure_latency(place: Path, *, model: str, questions: Sequence[str], labels: Sequence[str]) -> dict[str, Any]:
    """Time a fresh process, then warm calls with and without tier 2, then eight threads on one model.

    Fresh processes are timed by the wall clock, files in the page cache; warm calls by processor time on one thread,
    which a busy machine disturbs less.

    Args:
        place: a published snapshot.
        model: the checkpoint's directory.
        questions: asked once each per configuration, after ten that warm up.
        labels: entity labels.
    """
    found: dict[str, Any] = {"cold": _cold(model)}
    tier = Gliner2Tier(model=model, labels=labels, threads=1)
    tier.warm_up()
    with Sidecar.open(place) as sidecar:
        configurations: dict[str, list[Any]] = {"structural (tier 1)": ["alias"], "tier 1+2": ["alias", tier]}
        times: dict[str, list[float]] = {name: [] for name in [*configurations, "recognise alone"]}
        for number, text in enumerate(questions):
            for name, tiers in configurations.items():
                start = time.process_time()
                retrieve_evidence(text, sidecar=sidecar, tiers=tiers)
                times[name].append(1e3 * (time.process_time() - start))
            start = time.process_time()
            tier.recognise(text, dict.fromkeys(labels), {})
            times["recognise alone"].append(1e3 * (time.process_time() - start))
            if number == 9:
                times = {name: [] for name in times}
    found["warm processor ms"] = {
        name: {"median": round(statistics.median(values), 2), "p95": round(sorted(values)[int(0.95 * len(values))], 2)}
        for name, values in times.items()
    }
    found["warm ratio"] = round(
        found["warm processor ms"]["tier 1+2"]["median"] / found["warm processor ms"]["structural (tier 1)"]["median"],
        1,
    )
    found["threads"] = _threads(tier, questions[:40], labels)
    return found


def _cold(model: str) -> dict[str, Any]:
    """Return the median of each step over fresh processes."""
    runs = []
    for _ in range(COLD_RUNS):
        done = subprocess.run([sys.executable, "-c", _COLD, model], capture_output=True, text=True, check=True)
        runs.append(json.loads(done.stdout.splitlines()[-1]))
    return {
        key: round(statistics.median(run[key] for run in runs), 2) if isinstance(value, float) else value
        for key, value in runs[0].items()
    }


def _threads(tier: Gliner2Tier, questions: Sequence[str], labels: Sequence[str]) -> dict[str, int]:
    """Ask every question from eight threads and compare with one thread's answers."""

    def asked(text: str) -> Any:
        spans = tier.recognise(text, dict.fromkeys(labels), {"director": None, "date of death": None})
        relations = {label: round(value, 4) for label, value in (spans.relations or {}).items()}
        return [(s.start, s.end, s.label, round(s.confidence, 4)) for s in spans.spans], relations

    expected = {text: asked(text) for text in questions}
    mismatches: list[str] = []

    def work() -> None:
        mismatches.extend(text for text in questions if asked(text) != expected[text])

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {"threads": 8, "calls": 8 * len(questions), "mismatches": len(mismatches)}
