"""A tiny real cross-encoder, trained here for seconds. No network, ever."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"

PASSAGES: tuple[str, ...] = ("red apples grow here", "blue boats sail there", "green frogs jump far")
QUESTIONS: tuple[str, ...] = ("red apples", "blue boats", "green frogs")
"""The i-th question belongs to the i-th passage; the trained reranker must know it."""


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=special, initial_alphabet=[chr(c) for c in range(33, 127)]
    )
    tokenizer.train_from_iterator([*PASSAGES, *QUESTIONS], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    )


def _save(path: Path, *, labels: int, steps: int) -> Path:
    """Train a one-layer classifier on all nine pairs and save it."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(3)
    tokenizer = _tokenizer()
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=64,
        num_labels=labels,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    model = BertForSequenceClassification(config)
    pairs = [(q, p) for q in QUESTIONS for p in PASSAGES]
    gold = torch.tensor([float(i == j) for i in range(3) for j in range(3)])
    batch = tokenizer([q for q, _ in pairs], [p for _, p in pairs], padding=True, return_tensors="pt")
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for _ in range(steps):
        logits = model(**batch).logits.squeeze(-1)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, gold)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    model.save_pretrained(str(path))
    tokenizer.save_pretrained(str(path))
    return path


@pytest.fixture(scope="session")
def installed() -> None:
    """Skip where the extra is not installed."""
    for package in ("torch", "sentence_transformers"):
        pytest.importorskip(package, reason="the rerank extra is not installed")


@pytest.fixture(scope="session")
def cross_encoder(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cross-encoder that knows which question belongs to which passage."""
    return _save(tmp_path_factory.mktemp("rerank") / "trained", labels=1, steps=200)


@pytest.fixture(scope="session")
def classifier(installed: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A classifier over three labels, which is no reranker."""
    return _save(tmp_path_factory.mktemp("rerank") / "classifier", labels=3, steps=0)
