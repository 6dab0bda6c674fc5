"""What tier 2 is worth, and what it costs.

    python -m eval.bench.tier2 --gliner2 DIR [--parts tiers altered relations latency]

Per tier on the questions as written, and on questions whose names were altered; the relation signal on typed facts;
latency. With `--work DIR` a stopped run goes on where it was. Every figure belongs to the checkpoint in DIR, whose card says what it is.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from eval.bench.tier2_altered import ALTERATIONS, DRAWN, altered
from eval.bench.tier2_asking import Asker, MemoTier, MiniLM, summarise
from eval.bench.tier2_latency import measure_latency
from eval.bench.tier2_relations import measure_relations
from eval.bench.tier2_rows import Remembered
from eval.config import EvalConfig, default_data_dir
from eval.data.load import load_set
from eval.data.records import EvalSet, Question
from eval.graph.linkers import linked_inputs
from eval.progress import say
from eval.systems.tier2 import Checkpoint

__all__ = ["main"]

SETS = ("2wiki_pooled", "hotpotqa_pooled", "musique_pooled")
PARTS = ("tiers", "altered", "relations", "latency")
AS_WRITTEN = "as written"
TIERS = ("0", "1", "2", "0+1", "1+2", "0+1+2", "0+1+2, embedder")
ON_ALTERED = ("0+1", "0+1+2", "0+1+2, embedder")
LABELS = ("entity",)
"""The sets' snapshots have no entity types, and the checkpoint of `train_gliner2` finds names of any type by this."""


def _configurations(model: str, embed: MiniLM) -> dict[str, list[Any]]:
    seen: dict[Any, Any] = {}
    bare = MemoTier(seen, model=model, labels=LABELS)
    linked = MemoTier(seen, model=model, labels=LABELS, embed=embed)
    parts: dict[str, Any] = {"0": "ann", "1": "alias", "2": bare}
    found = {name: [parts[part] for part in name.split("+")] for name in TIERS[:-1]}
    return {**found, TIERS[-1]: ["ann", "alias", linked]}


def _publish(data: EvalSet, work: Path) -> Path:
    from latence_retrieval.build import build_sidecar

    assert data.vectors is not None
    assert data.vectors.entities is not None
    place = work / data.name
    if (place / "manifest.json").is_file():
        return place
    say(f"{data.name}: building the snapshot")
    build_sidecar(
        place,
        chunk_vectors=data.vectors.chunks.tolist(),
        title_vectors=data.vectors.entities.tolist(),
        replace=True,
        **linked_inputs(data, "catalogue"),
    )
    return place


def _measure(
    asker: Asker,
    questions: Sequence[Question],
    tiers: Mapping[str, list[Any]],
    *,
    remembered: Remembered,
    what: str,
) -> dict[str, list[dict[str, float]]]:
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in tiers}
    for done, question in enumerate(questions, start=1):
        for name, chosen in tiers.items():
            rows[name].append(
                remembered.get(
                    (asker.data.name, what, name, question.id),
                    with_model="2" in name,
                    make=partial(asker.ask, question, tiers=chosen, as_written=what == AS_WRITTEN),
                )
            )
        if done % 100 == 0:
            say(f"{asker.data.name}: {what}, {done} of {len(questions)} questions")
    return rows


def _altered_part(
    asker: Asker,
    tiers: Mapping[str, list[Any]],
    config: EvalConfig,
    *,
    limit: int | None,
    kinds: Sequence[str],
    remembered: Remembered,
) -> dict[str, Any]:
    """Measure every alteration; those that draw letters, with two seeds."""
    data = asker.data
    if not data.anchors:
        return {}
    named = [question for question in data.questions if data.anchors.get(question.id)][:limit]
    few = {name: tiers[name] for name in ON_ALTERED if name in tiers}
    found: dict[str, Any] = {}
    for kind in kinds:
        for seed in (config.seed, config.seed + 1) if kind in DRAWN else (config.seed,):
            pairs = [altered(question, data.anchors[question.id], kind, seed=seed) for question in named]
            changed = [question for question in pairs if question is not None]
            label = f"{kind}, seed {seed}" if kind in DRAWN else kind
            rows = _measure(asker, changed, few, remembered=remembered, what=label)
            found[label] = summarise(rows, baseline="0+1", config=config)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, measure, write the results."""
    parser = argparse.ArgumentParser(prog="python -m eval.bench.tier2", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--gliner2", required=True, metavar="DIR", help="checkpoint")
    parser.add_argument("--data", type=Path, default=default_data_dir())
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--limit", type=int, default=None, help="first questions of each set only")
    parser.add_argument("--tiers", nargs="+", default=list(TIERS), choices=TIERS, metavar="TIERS")
    parser.add_argument("--alterations", nargs="+", default=list(ALTERATIONS), choices=list(ALTERATIONS))
    parser.add_argument(
        "--work", type=Path, default=None, help="keep snapshots and rows here, and use those that are there"
    )
    parser.add_argument("--out", type=Path, default=Path("eval/results/tier2-bench.json"))
    options = parser.parse_args(arguments)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    config = EvalConfig()
    embed = MiniLM()
    card = Path(options.gliner2) / "scores.json"
    results: dict[str, Any] = {
        "checkpoint": {
            "name": Path(options.gliner2).name,
            "held-out scores": json.loads(card.read_text()) if card.is_file() else None,
        },
        "seed": config.seed,
        "labels": list(LABELS),
        **{part: {} for part in options.parts},
    }
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        for name in options.sets:
            data = load_set(options.data, name)
            remembered = Remembered(work, checkpoint=Checkpoint(options.gliner2, LABELS))
            place = _publish(data, work)
            asker = Asker(data, place, embed=embed)
            tiers = {k: v for k, v in _configurations(options.gliner2, embed).items() if k in options.tiers}
            if "tiers" in options.parts:
                asked = data.questions[: options.limit]
                rows = _measure(asker, asked, tiers, remembered=remembered, what=AS_WRITTEN)
                results["tiers"][name] = summarise(rows, baseline="1", config=config)
            if "altered" in options.parts:
                results["altered"][name] = _altered_part(
                    asker,
                    tiers,
                    config,
                    limit=options.limit,
                    kinds=options.alterations,
                    remembered=remembered,
                )
            if "relations" in options.parts and (data.triples or any(q.evidences for q in data.questions)):
                results["relations"][name] = measure_relations(
                    data,
                    model=options.gliner2,
                    work=work,
                    embed=embed,
                    config=config,
                    limit=options.limit,
                    remembered=remembered,
                )
            if "latency" in options.parts and name == options.sets[0]:
                texts = [question.text for question in data.questions[: min(110, options.limit or 110)]]
                results["latency"] = measure_latency(place, model=options.gliner2, questions=texts, labels=LABELS)
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            say(f"{name}: written to {options.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
