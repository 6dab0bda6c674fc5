"""A tiny real GLiNER checkpoint with random weights: fit for plumbing, not for scores. No network, ever."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval.ports.entry_tier import EntryRequest, Link, Span, TierOutcome

os.environ["HF_HUB_OFFLINE"] = "1"


def _backbone(path: Path) -> Path:
    """Save a one-layer BERT and a WordPiece tokenizer over letters."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(5)
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(
        vocab_size=300, special_tokens=special, initial_alphabet=[chr(c) for c in range(33, 127)]
    )
    tokenizer.train_from_iterator(["who founded acme works person company"], trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
    config = BertConfig(
        vocab_size=len(wrapped),
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=1024,
    )
    BertModel(config).save_pretrained(str(path))
    wrapped.save_pretrained(str(path))
    return path


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A span model of the `gliner` package."""
    pytest.importorskip("torch", reason="the gliner extra is not installed")
    gliner = pytest.importorskip("gliner", reason="the gliner extra is not installed")
    root = tmp_path_factory.mktemp("gliner")
    config = gliner.GLiNERConfig(
        model_name=str(_backbone(root / "backbone")),
        hidden_size=32,
        max_width=4,
        num_rnn_layers=0,
        span_mode="markerV0",
    )
    model = gliner.GLiNER.from_config(config, backbone_from_pretrained=True)
    model.save_pretrained(str(root / "tiny"))
    return root / "tiny"


@pytest.fixture
def make_request() -> Any:
    """Return a function that makes a request over a small alias table."""

    def make(
        query: str, *, types: tuple[str, ...] = ("company", "person"), aliases: Sequence[str] = ()
    ) -> EntryRequest:
        numbers = {form: i for i, form in enumerate(aliases)}

        def link_spans(spans: Sequence[Span], tier: str) -> TierOutcome:
            return TierOutcome(
                tuple(Link(numbers[s.text], s.confidence, tier, s) for s in spans if s.text in numbers),
                tuple(s for s in spans if s.text not in numbers),
            )

        def never() -> dict[str, str | None]:
            raise AssertionError("this tier has no relation signal")

        return EntryRequest(query, None, types, link_spans, None, never)

    return make
