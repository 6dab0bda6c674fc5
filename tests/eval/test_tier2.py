"""Tier 2 in the harness, without a model: labels of a checkpoint, one forward pass a question, rows that are kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from eval.bench import tier2_relations
from eval.bench.tier2_altered import ALTERATIONS, DRAWN, altered
from eval.bench.tier2_rows import Remembered
from eval.config import EvalConfig
from eval.data.records import GoldAnchor, Question
from eval.errors import HarnessError
from eval.systems.latence import asks_a_model
from eval.systems.names import parse_name
from eval.systems.tier2 import LABELS_FILE, Checkpoint, OncePerQuestion
from latence_retrieval.ports.entry_tier import EntryRequest, TierOutcome


def test_labels_come_from_the_command_line_else_from_the_checkpoint_else_from_nowhere(tmp_path: Path) -> None:
    assert Checkpoint.named(str(tmp_path), None).labels is None
    (tmp_path / LABELS_FILE).write_text('["entity"]')
    assert Checkpoint.named(str(tmp_path), None).labels == ("entity",)
    assert Checkpoint.named(str(tmp_path), ["person", "film"]).labels == ("person", "film")


@pytest.mark.parametrize("text", ["{", '"entity"', "[1]"])
def test_a_broken_file_of_labels_is_refused_by_name(tmp_path: Path, text: str) -> None:
    (tmp_path / LABELS_FILE).write_text(text)
    with pytest.raises(HarnessError, match=LABELS_FILE):
        Checkpoint.named(str(tmp_path), None)


def test_other_weights_or_labels_are_another_identity(tmp_path: Path) -> None:
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(b"one")
    before = Checkpoint(str(tmp_path), ("entity",)).identity()
    assert Checkpoint(str(tmp_path), ("name",)).identity() != before
    weights.write_bytes(b"two")
    assert Checkpoint(str(tmp_path), ("entity",)).identity() != before


def test_systems_with_tier_2_alone_depend_on_the_checkpoint() -> None:
    names = ("tier2", "tier0+1+2:no-walk", "tier1", "dense")
    assert [asks_a_model(parse_name(name)) for name in names] == [True, True, False, False]


class _Counting:
    name = "counting"

    def __init__(self) -> None:
        self.calls = 0

    def enter(self, request: EntryRequest) -> TierOutcome:
        self.calls += 1
        return TierOutcome(notes=(request.query,))


def _request(query: str) -> EntryRequest:
    return EntryRequest(
        query=query,
        embedding=None,
        entity_types=(),
        link_spans=lambda _spans, _tier: TierOutcome(),
        nearest=None,
        relation_labels=dict,
    )


def test_a_question_is_answered_from_memory_until_forgotten() -> None:
    inner = _Counting()
    tier = OncePerQuestion(inner)
    assert tier.name == "counting"
    assert [tier.enter(_request(query)).notes for query in ("a", "a", "b")] == [("a",), ("a",), ("b",)]
    assert inner.calls == 2
    tier.forget()
    tier.enter(_request("b"))
    assert inner.calls == 3


def test_rows_are_kept_between_runs_and_made_anew_for_another_checkpoint(tmp_path: Path) -> None:
    made: list[str] = []

    def make() -> dict[str, float]:
        made.append("row")
        return {"recall@5": 0.5}

    for labels in (("entity",), ("entity",), ("name",)):
        rows = Remembered(tmp_path, checkpoint=Checkpoint("somewhere", labels))
        assert rows.get(["set", "as written", "q1"], with_model=True, make=make) == {"recall@5": 0.5}
        assert rows.get(["set", "as written", "q2"], with_model=False, make=make) == {"recall@5": 0.5}
    assert len(made) == 3
    path = tmp_path / "rows-set-as_written.jsonl"
    assert len(path.read_text().splitlines()) == 3
    assert all(set(json.loads(line)) == {"key", "row"} for line in path.read_text().splitlines())


def test_alterations_touch_the_names_alone_and_those_that_draw_differ_by_seed() -> None:
    text = "Who directed Something Wonderful and The Remarkable Adventure?"
    names = ("Something Wonderful", "The Remarkable Adventure")
    question = Question(id="q", text=text, gold_ids=("p",), row=0)
    anchors = [
        GoldAnchor(f"p{i}", text.index(name), text.index(name) + len(name), name) for i, name in enumerate(names)
    ]
    changed = {
        kind: [found.text for seed in (1, 2) if (found := altered(question, anchors, kind, seed=seed)) is not None]
        for kind in ALTERATIONS
    }
    assert changed["cut short"][0] == "Who directed Wonderful and The Remarkable?"
    assert changed["initialled"][0] == "Who directed S. Wonderful and Remarkable Adventure?"
    assert changed["lower-cased"][0] == text.lower()
    assert changed["misspelt"][0].startswith("Who directed ")
    assert {kind for kind, (one, two) in changed.items() if one != two} == DRAWN


def test_the_relation_weight_is_chosen_on_one_half_and_told_on_the_other() -> None:
    pytest.importorskip("numpy")
    questions = [Question(id=f"q{i}", text="?", gold_ids=("p",), row=i) for i in range(40)]
    better = {0.1: 0.5, 0.2: 0.7, 0.4: 0.7}

    def row(question: Question, weight: float | None) -> dict[str, float]:
        value = 0.4 if weight is None else better[weight] if tier2_relations._chooses(question) else 0.3
        return {f"recall@{k}": value for k in (2, 5, 10)}

    rows = {f"signal at {weight}": [row(question, weight) for question in questions] for weight in better}
    told = tier2_relations._chosen(
        {"without": [row(question, None) for question in questions], **rows}, questions, EvalConfig()
    )
    assert told["chosen weights"] == {"signal": 0.2}
    others = told["at the chosen weight, other half"]
    assert others["signal"]["questions"] == sum(not tier2_relations._chooses(question) for question in questions)
    assert others["signal"]["recall@5"]["difference"] == pytest.approx(-10.0)
