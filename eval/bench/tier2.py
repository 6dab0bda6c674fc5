"""What tier 2 is worth, and what it costs.

    python -m eval.bench.tier2 --gliner2 DIR [--parts tiers altered relations latency]

Per tier on the questions as written, and on questions whose names were altered; the relation signal on typed facts;
latency. Every figure belongs to the checkpoint in DIR, whose card says what it is.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.bench.tier2_altered import ALTERATIONS, altered
from eval.bench.tier2_asking import Asker, MemoTier, MiniLM, summarise
from eval.bench.tier2_latency import measure_latency
from eval.bench.tier2_relations import measure_relations
from eval.config import EvalConfig, default_data_dir
from eval.data.load import load_set
from eval.data.records import EvalSet, Question
from eval.graph.linkers import linked_inputs
from eval.progress import say

__all__ = ["main"]

SETS = ("2wiki_pooled", "hotpotqa_pooled", "musique_pooled")
PARTS = ("tiers", "altered", "relations", "latency")
LABELS = ("entity",)
"""The checkpoint of `train_gliner2` knows this label best; the sets' snapshots have no entity types."""


def _configurations(model: str, embed: MiniLM) -> dict[str, list[Any]]:
    seen: dict[Any, Any] = {}
    bare = MemoTier(seen, model=model, labels=LABELS)
    linked = MemoTier(seen, model=model, labels=LABELS, embed=embed)
    return {
        "0": ["ann"],
        "1": ["alias"],
        "2": [bare],
        "0+1": ["ann", "alias"],
        "1+2": ["alias", bare],
        "0+1+2": ["ann", "alias", bare],
        "0+1+2, embedder": ["ann", "alias", linked],
    }


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
    asker: Asker, questions: Sequence[Question], tiers: Mapping[str, list[Any]], *, as_written: bool, what: str
) -> dict[str, list[dict[str, float]]]:
    rows: dict[str, list[dict[str, float]]] = {name: [] for name in tiers}
    for done, question in enumerate(questions, start=1):
        for name, chosen in tiers.items():
            rows[name].append(asker.ask(question, tiers=chosen, as_written=as_written))
        if done % 100 == 0:
            say(f"{asker.data.name}: {what}, {done} of {len(questions)} questions")
    return rows


def _altered_part(asker: Asker, tiers: Mapping[str, list[Any]], config: EvalConfig, limit: int) -> dict[str, Any]:
    data = asker.data
    if not data.anchors:
        return {}
    named = [question for question in data.questions if data.anchors.get(question.id)][:limit]
    found: dict[str, Any] = {}
    for kind in ALTERATIONS:
        pairs = [altered(question, data.anchors[question.id], kind, seed=config.seed) for question in named]
        changed = [question for question in pairs if question is not None]
        few = {name: tiers[name] for name in ("1", "0+1", "0+1+2", "0+1+2, embedder")}
        rows = _measure(asker, changed, few, as_written=False, what=kind)
        found[kind] = summarise(rows, baseline="0+1", config=config)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line, measure, write the results."""
    parser = argparse.ArgumentParser(prog="python -m eval.bench.tier2", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--gliner2", required=True, metavar="DIR", help="checkpoint")
    parser.add_argument("--data", type=Path, default=default_data_dir())
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--limit", type=int, default=None, help="first questions of each set only")
    parser.add_argument("--altered", type=int, default=300, help="questions of each set that are altered")
    parser.add_argument("--work", type=Path, default=None, help="keep snapshots here, and use those that are there")
    parser.add_argument("--out", type=Path, default=Path("eval/results/tier2.json"))
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
            place = _publish(data, work)
            asker = Asker(data, place, embed=embed)
            tiers = _configurations(options.gliner2, embed)
            if "tiers" in options.parts:
                rows = _measure(asker, data.questions[: options.limit], tiers, as_written=True, what="as written")
                results["tiers"][name] = summarise(rows, baseline="1", config=config)
            if "altered" in options.parts:
                few = min(options.altered, options.limit or options.altered)
                results["altered"][name] = _altered_part(asker, tiers, config, few)
            if "relations" in options.parts and (data.triples or any(q.evidences for q in data.questions)):
                results["relations"][name] = measure_relations(
                    data, model=options.gliner2, work=work, embed=embed, config=config, limit=options.limit
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
