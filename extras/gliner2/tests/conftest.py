"""Real GLiNER2 checkpoints, built here: one with random weights, one trained for seconds. No network, ever."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval.ports.entry_tier import EntryRequest, Link, Span, TierOutcome

os.environ["HF_HUB_OFFLINE"] = "1"

TRAINED: tuple[tuple[str, Mapping[str, Sequence[str]]], ...] = (
    ("When did Ada Byron die?", {"company": [], "person": ["Ada Byron"]}),
    ("Who founded Acme Works?", {"company": ["Acme Works"], "person": []}),
    ("Where was Grace Hopper born?", {"company": [], "person": ["Grace Hopper"]}),
    ("Is Globex Corp older than Acme Works?", {"company": ["Globex Corp", "Acme Works"], "person": []}),
    ("Which company did Ada Byron leave?", {"company": [], "person": ["Ada Byron"]}),
    ("Who owns Globex Corp?", {"company": ["Globex Corp"], "person": []}),
    ("Did Grace Hopper work at Initech Labs?", {"company": ["Initech Labs"], "person": ["Grace Hopper"]}),
    ("What does Initech Labs make?", {"company": ["Initech Labs"], "person": []}),
)
"""Eight sentences that the trained checkpoint must reproduce."""


def _tokenizer(texts: Sequence[str]) -> Any:
    """A WordPiece tokenizer over letters and the words of `texts`."""
    from tokenizers import (
        Tokenizer,
        models,
        normalizers,
        pre_tokenizers,
        processors,
        trainers,
    )
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    alphabet = [chr(c) for c in range(33, 127)]
    trainer = trainers.WordPieceTrainer(vocab_size=600, special_tokens=special, initial_alphabet=alphabet)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def _untrained(*, hidden: int, layers: int, positions: int = 512) -> Any:
    import torch
    from gliner2 import ExtractorConfig, GLiNER2
    from transformers import BertConfig

    torch.manual_seed(7)
    texts = [text for text, _ in TRAINED] + ["person company relation founded by date of death entities"]
    tokenizer = _tokenizer(texts)
    encoder = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden,
        num_hidden_layers=layers,
        num_attention_heads=4,
        intermediate_size=2 * hidden,
        max_position_embeddings=positions,
    )
    config = ExtractorConfig(model_name="tiny-bert", max_width=4, counting_layer="count_lstm", token_pooling="first")
    return GLiNER2(config, encoder_config=encoder, tokenizer=tokenizer)


@pytest.fixture(scope="session")
def installed() -> None:
    """Skip where the extra is not installed."""
    for package in ("torch", "gliner2"):
        pytest.importorskip(package, reason="the gliner2 extra is not installed")


@pytest.fixture(scope="session")
def tiny_checkpoint(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real checkpoint with random weights: fit for plumbing, not for scores."""
    path = tmp_path_factory.mktemp("gliner2") / "tiny"
    _untrained(hidden=32, layers=1).save_pretrained(str(path))
    return path


@pytest.fixture(scope="session")
def short_checkpoint(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with an encoder of only 64 positions."""
    path = tmp_path_factory.mktemp("gliner2") / "short"
    _untrained(hidden=32, layers=1, positions=64).save_pretrained(str(path))
    return path


@pytest.fixture(scope="session")
def trained_checkpoint(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint that the library's own trainer taught the eight sentences of `TRAINED`."""
    from gliner2.training.data import InputExample
    from gliner2.training.trainer import GLiNER2Trainer, TrainingConfig

    root = tmp_path_factory.mktemp("gliner2")
    model = _untrained(hidden=64, layers=2)
    sampling = model.processor.sampling_config
    sampling.synthetic_entity_label_prob = 0.0
    examples = [InputExample(text, entities={k: list(v) for k, v in gold.items()}) for text, gold in TRAINED]
    config = TrainingConfig(
        output_dir=str(root / "run"),
        num_epochs=1,
        max_steps=150,
        batch_size=8,
        encoder_lr=2e-3,
        task_lr=2e-3,
        scheduler_type="constant",
        warmup_ratio=0.0,
        fp16=False,
        eval_strategy="no",
        num_workers=0,
        pin_memory=False,
        logging_steps=50,
        seed=7,
        fused_optimizer=False,
    )
    GLiNER2Trainer(model, config).train(train_data=examples)
    path = root / "trained"
    model.save_pretrained(str(path))
    return path


class Snapshot:
    """A small alias table and vectors, with the look-ups that a request offers; counts what was asked."""

    def __init__(self, aliases: Mapping[str, int], vectors: Mapping[int, Sequence[float]] | None = None) -> None:
        self.aliases = {form.casefold(): entity for form, entity in aliases.items()}
        self.vectors = vectors
        self.relation_calls = 0

    def request(
        self,
        query: str,
        *,
        types: tuple[str, ...] = ("company", "person"),
        relations: Mapping[str, str | None] | None = None,
    ) -> EntryRequest:
        def link_spans(spans: Sequence[Span], tier: str) -> TierOutcome:
            known = [(span, self.aliases.get(span.text.casefold())) for span in spans]
            return TierOutcome(
                tuple(Link(entity, span.confidence, tier, span) for span, entity in known if entity is not None),
                tuple(span for span, entity in known if entity is None),
            )

        def nearest(embedding: Sequence[float], k: int) -> list[tuple[int, float]]:
            assert self.vectors is not None
            scored = [(e, sum(a * b for a, b in zip(v, embedding, strict=True))) for e, v in self.vectors.items()]
            return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]

        def relation_labels() -> Mapping[str, str | None]:
            self.relation_calls += 1
            return relations or {}

        return EntryRequest(
            query=query,
            embedding=None,
            entity_types=types,
            link_spans=link_spans,
            nearest=nearest if self.vectors is not None else None,
            relation_labels=relation_labels,
        )


@pytest.fixture
def make_snapshot() -> type[Snapshot]:
    """The class, so that test modules import nothing from here."""
    return Snapshot


@pytest.fixture
def snapshot() -> Snapshot:
    """Two known names."""
    return Snapshot({"Ada Byron": 1, "Acme Works": 2})


@pytest.fixture
def sentences() -> tuple[tuple[str, Mapping[str, Sequence[str]]], ...]:
    """What the trained checkpoint was taught."""
    return TRAINED
