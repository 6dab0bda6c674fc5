"""The GLiNER2 tier and signal over real checkpoints, offline."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from latence_retrieval.errors import InvalidInputError, MissingExtraError, ModelError
from latence_retrieval.ports.entry_tier import EntryTier
from latence_retrieval.ports.relation_signal import RelationSignal
from latence_retrieval_gliner2 import Gliner2RelationSignal, Gliner2Tier

Sentences = tuple[tuple[str, Mapping[str, Sequence[str]]], ...]
MakeSnapshot = Callable[..., Any]

RELATIONS: dict[str, str | None] = {"founded by": None, "date of death": "the day on which somebody died"}


def _count_forwards(tier: Gliner2Tier | Gliner2RelationSignal) -> list[int]:
    calls: list[int] = []
    tier.extractor.loaded_model.encoder.register_forward_hook(lambda *_: calls.append(1))
    return calls


def test_constructing_imports_neither_torch_nor_gliner2() -> None:
    code = (
        "import sys\n"
        "from latence_retrieval_gliner2 import Gliner2Tier, Gliner2RelationSignal\n"
        "tier = Gliner2Tier(model='/nowhere'); signal = Gliner2RelationSignal(model='/nowhere')\n"
        "assert tier.name == signal.name == 'gliner2'\n"
        "print({'torch', 'gliner2', 'transformers', 'huggingface_hub', 'numpy'} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_both_classes_fit_their_ports() -> None:
    assert isinstance(Gliner2Tier(model="x"), EntryTier)
    assert isinstance(Gliner2RelationSignal(model="x"), RelationSignal)


def test_the_model_is_required() -> None:
    with pytest.raises(TypeError, match="model"):
        Gliner2Tier()  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"model": ""}, "model"),
        ({"model": None}, "model"),
        ({"model": "x", "span_threshold": 1.5}, "span_threshold"),
        ({"model": "x", "span_threshold": float("nan")}, "span_threshold"),
        ({"model": "x", "min_cosine": 2}, "min_cosine"),
        ({"model": "x", "labels": []}, "labels"),
        ({"model": "x", "labels": "person"}, "labels"),
        ({"model": "x", "threads": 0}, "threads"),
    ],
)
def test_an_unusable_argument_is_named(options: dict[str, Any], argument: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Gliner2Tier(**options)
    assert caught.value.argument == argument


def test_spans_and_relations_take_one_encoder_forward(tiny_checkpoint: Path, snapshot: Any) -> None:
    tier = Gliner2Tier(model=tiny_checkpoint)
    calls = _count_forwards(tier)
    outcome = tier.enter(snapshot.request("Who founded Acme Works?", relations=RELATIONS))
    assert len(calls) == 1
    assert snapshot.relation_calls == 1
    assert outcome.relations is not None
    assert set(outcome.relations) == set(RELATIONS)
    assert all(0.0 <= p <= 1.0 for p in outcome.relations.values())


def test_relations_are_absent_where_none_stand_around_the_anchors(tiny_checkpoint: Path, snapshot: Any) -> None:
    assert Gliner2Tier(model=tiny_checkpoint).enter(snapshot.request("Who?")).relations is None


def test_relations_can_be_switched_off(tiny_checkpoint: Path, snapshot: Any) -> None:
    tier = Gliner2Tier(model=tiny_checkpoint, relations=False)
    assert tier.enter(snapshot.request("Who?", relations=RELATIONS)).relations is None
    assert snapshot.relation_calls == 0


def test_a_trained_model_finds_what_it_was_taught(
    trained_checkpoint: Path, snapshot: Any, sentences: Sentences
) -> None:
    tier = Gliner2Tier(model=trained_checkpoint)
    for text, gold in sentences:
        outcome = tier.enter(snapshot.request(text))
        spans = [link.span for link in outcome.links if link.span] + list(outcome.unlinked)
        found = {(span.label, span.text) for span in spans}
        assert found == {(label, form) for label, forms in gold.items() for form in forms}
        assert all(text[span.start : span.end] == span.text for span in spans)


def test_known_spans_link_and_unknown_ones_are_reported(trained_checkpoint: Path, snapshot: Any) -> None:
    outcome = Gliner2Tier(model=trained_checkpoint).enter(snapshot.request("Is Globex Corp older than Acme Works?"))
    assert [link.entity for link in outcome.links] == [2]
    assert [span.text for span in outcome.unlinked] == ["Globex Corp"]


def test_an_unknown_span_goes_to_the_nearest_vector_only_with_an_embedder(
    trained_checkpoint: Path, make_snapshot: MakeSnapshot
) -> None:
    known = make_snapshot({}, {7: (1.0, 0.0), 8: (0.0, 1.0)})
    request = known.request("Who owns Globex Corp?")
    assert not Gliner2Tier(model=trained_checkpoint).enter(request).links
    near = Gliner2Tier(model=trained_checkpoint, embed=lambda text: (0.1, 0.99)).enter(request)
    assert [link.entity for link in near.links] == [8]
    assert not near.unlinked
    far = Gliner2Tier(model=trained_checkpoint, embed=lambda text: (0.5, 0.5)).enter(request)
    assert not far.links
    assert [span.text for span in far.unlinked] == ["Globex Corp"]


def test_an_embedder_without_entity_vectors_is_noted(trained_checkpoint: Path, make_snapshot: MakeSnapshot) -> None:
    tier = Gliner2Tier(model=trained_checkpoint, embed=lambda text: (1.0,))
    outcome = tier.enter(make_snapshot({}).request("Who owns Globex Corp?"))
    assert [span.text for span in outcome.unlinked] == ["Globex Corp"]
    assert "no entity vectors" in outcome.notes[0]


def test_a_span_never_holds_the_full_stop_that_the_library_adds(installed: None) -> None:
    from latence_retrieval_gliner2.extractor import _spans

    found = {"company": [{"start": 4, "end": 15, "confidence": 0.9}, {"start": 14, "end": 15, "confidence": 0.8}]}
    spans = _spans(found, "Who? Acme Works"[:14])
    assert [(span.start, span.end, span.text) for span in spans] == [(4, 14, " Acme Work")]


@pytest.mark.parametrize("query", ["Acme Works", "x", "where is İstanbul"])
def test_offsets_point_into_the_query(tiny_checkpoint: Path, make_snapshot: MakeSnapshot, query: str) -> None:
    tier = Gliner2Tier(model=tiny_checkpoint, span_threshold=0.0)
    outcome = tier.enter(make_snapshot({}).request(query))
    assert all(span.end <= len(query) and span.text == query[span.start : span.end] for span in outcome.unlinked)


def test_spans_do_not_overlap(tiny_checkpoint: Path, make_snapshot: MakeSnapshot) -> None:
    outcome = Gliner2Tier(model=tiny_checkpoint, span_threshold=0.0).enter(
        make_snapshot({}).request("Did Grace Hopper work at Initech Labs?")
    )
    for left, right in zip(outcome.unlinked, outcome.unlinked[1:], strict=False):
        assert left.end <= right.start


@pytest.mark.parametrize(
    "query", ["word " * 5000, "x" * 20_000, "[E] [P] ( ) [SEP_TEXT] [L]", "\u200b\u0301 \x00 ？", "日本"]
)
def test_hostile_queries_are_bounded(tiny_checkpoint: Path, query: str, make_snapshot: MakeSnapshot) -> None:
    hostile = {f"label {i} [L] (": "words " * 50 for i in range(300)}
    outcome = Gliner2Tier(model=tiny_checkpoint).enter(
        make_snapshot({}).request(query, types=tuple(f"type {i}" for i in range(500)), relations=hostile)
    )
    assert any("labels" in note for note in outcome.notes)


def test_what_does_not_fit_the_encoder_is_cut_and_noted(short_checkpoint: Path, make_snapshot: MakeSnapshot) -> None:
    relations = {f"relation number {i}": None for i in range(40)}
    outcome = Gliner2Tier(model=short_checkpoint).enter(
        make_snapshot({}).request("Who founded Acme Works and when did that happen?", relations=relations)
    )
    assert outcome.relations is not None
    assert 0 < len(outcome.relations) < 40
    assert set(outcome.relations) < set(relations)
    assert any("relation labels fit" in note for note in outcome.notes)


def test_the_snapshots_types_are_the_default_labels(
    tiny_checkpoint: Path, snapshot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    tier = Gliner2Tier(model=tiny_checkpoint)
    read = tier.extractor.read
    monkeypatch.setattr(tier.extractor, "read", lambda *a, **k: asked.append(list(k["labels"])) or read(*a, **k))
    tier.enter(snapshot.request("Who?", types=("drug", "gene")))
    tier.enter(snapshot.request("Who?", types=()))
    assert asked[0] == ["drug", "gene"]
    assert "person" in asked[1]


def test_tier_and_signal_of_one_checkpoint_share_one_load(tiny_checkpoint: Path) -> None:
    tier, signal = Gliner2Tier(model=tiny_checkpoint), Gliner2RelationSignal(model=tiny_checkpoint)
    assert tier.extractor is signal.extractor
    assert Gliner2Tier(model=tiny_checkpoint, threads=1).extractor is not tier.extractor


def test_the_signal_scores_every_label(tiny_checkpoint: Path) -> None:
    signal = Gliner2RelationSignal(model=tiny_checkpoint)
    calls = _count_forwards(signal)
    scores = signal.relation_scores("When did Ada die?", RELATIONS, None)
    assert scores is not None
    assert set(scores) == set(RELATIONS)
    assert len(calls) == 1
    assert signal.relation_scores("When did Ada die?", {}, None) is None


def test_the_signal_takes_as_many_passes_as_the_labels_need(short_checkpoint: Path) -> None:
    signal = Gliner2RelationSignal(model=short_checkpoint)
    labels = {f"kind {i}": None for i in range(15)}
    calls = _count_forwards(signal)
    assert set(signal.relation_scores("When?", labels, None) or {}) == set(labels)
    assert 1 < len(calls) <= 4


def test_the_signal_stops_after_its_last_pass(short_checkpoint: Path) -> None:
    signal = Gliner2RelationSignal(model=short_checkpoint)
    calls = _count_forwards(signal)
    scores = signal.relation_scores("When?", {f"relation number {i}": None for i in range(500)}, None)
    assert scores
    assert len(scores) < 500
    assert len(calls) == 4


def test_eight_threads_share_one_load_and_agree(
    trained_checkpoint: Path,
    monkeypatch: pytest.MonkeyPatch,
    make_snapshot: MakeSnapshot,
    sentences: Sentences,
) -> None:
    import gliner2

    loads: list[int] = []
    original = gliner2.AutoExtractor.from_pretrained

    def counted(*args: Any, **kwargs: Any) -> Any:
        loads.append(1)
        return original(*args, **kwargs)

    monkeypatch.setattr(gliner2.AutoExtractor, "from_pretrained", counted)
    tier = Gliner2Tier(model=trained_checkpoint, revision="threads-test")
    answers: list[tuple[str, Any]] = []

    def work() -> None:
        for text, _ in sentences:
            outcome = tier.enter(make_snapshot({}).request(text, relations=RELATIONS))
            spans = [(s.start, s.end, s.label, round(s.confidence, 4)) for s in outcome.unlinked]
            relations = {k: round(v, 4) for k, v in (outcome.relations or {}).items()}
            answers.append((text, (spans, relations)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]
    assert len(answers) == 8 * len(sentences)
    for text, _ in sentences:
        first, *others = [answer for asked, answer in answers if asked == text]
        assert all(other == first for other in others)


def _without(name: str) -> Callable[[Path], None]:
    return lambda path: (path / name).unlink()


def _corrupt(path: Path) -> None:
    (path / "model.safetensors").write_bytes(b"\x10" * 1000)


def _untokenised(path: Path) -> None:
    for file in path.glob("tokenizer*"):
        file.unlink()


def _remote_code(path: Path) -> None:
    file = path / "encoder_config" / "config.json"
    config = json.loads(file.read_text())
    file.write_text(json.dumps({**config, "auto_map": {"AutoModel": "evil/repo--module.Model"}}))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (_without("config.json"), "config.json"),
        (_without("model.safetensors"), "FileNotFoundError"),
        (_untokenised, "ValueError"),
        (_corrupt, "RuntimeError"),
        (_remote_code, "auto_map"),
    ],
    ids=["no config", "no weights", "no tokenizer", "corrupt weights", "remote code"],
)
def test_a_damaged_checkpoint_is_one_error_that_names_the_argument(
    tiny_checkpoint: Path, tmp_path: Path, damage: Callable[[Path], None], said: str, make_snapshot: MakeSnapshot
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(tiny_checkpoint, copy)
    damage(copy)
    tier = Gliner2Tier(model=copy)
    for attempt in (tier.warm_up, lambda: tier.enter(make_snapshot({}).request("Who?"))):
        with pytest.raises(ModelError) as caught:
            attempt()
        assert caught.value.argument == "model"
        assert str(copy) in str(caught.value)
        assert said in str(caught.value)


@pytest.mark.parametrize("model", ["/no/such/directory", "./nowhere", "a/b/c", "owner/never-cached", "never-cached"])
@pytest.mark.usefixtures("installed")
def test_a_missing_checkpoint_is_one_error_at_once(model: str) -> None:
    with pytest.raises(ModelError, match="model="):
        Gliner2Tier(model=model).warm_up()


@pytest.mark.usefixtures("installed")
def test_a_file_is_not_a_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "weights.bin").write_bytes(b"")
    with pytest.raises(ModelError, match="is a file"):
        Gliner2Tier(model=tmp_path / "weights.bin").warm_up()


def test_a_repaired_checkpoint_loads_at_the_next_warm_up(
    tiny_checkpoint: Path, tmp_path: Path, make_snapshot: MakeSnapshot
) -> None:
    tier = Gliner2Tier(model=tmp_path / "later")
    with pytest.raises(ModelError):
        tier.warm_up()
    shutil.copytree(tiny_checkpoint, tmp_path / "later")
    with pytest.raises(ModelError):
        tier.enter(make_snapshot({}).request("Who?"))
    tier.warm_up()
    tier.enter(make_snapshot({}).request("Who?"))


def test_an_unusable_device_is_named(tiny_checkpoint: Path) -> None:
    with pytest.raises((InvalidInputError, ModelError), match="device"):
        Gliner2Tier(model=tiny_checkpoint, device="nonsense").warm_up()


@pytest.mark.parametrize("package", ["torch", "transformers", "peft", "gliner2"])
def test_an_absent_package_is_the_install_line(
    tiny_checkpoint: Path, package: str, monkeypatch: pytest.MonkeyPatch, make_snapshot: MakeSnapshot
) -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    tier = Gliner2Tier(model=tiny_checkpoint, revision=f"without-{package}")
    with pytest.raises(MissingExtraError, match=r"latence-retrieval\[gliner2\]"):
        tier.enter(make_snapshot({}).request("Who?"))
