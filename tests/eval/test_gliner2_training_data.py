"""What the small checkpoint is trained on: seeded, apart from its dev split, and the same after a pause. No torch."""

from __future__ import annotations

from itertools import pairwise

import pytest

from eval.gliner2_catalogue import Catalogue
from eval.gliner2_questions import Example, synthesise
from eval.gliner2_relations import FAMILIES
from eval.gliner2_training import TrainingPlan
from eval.train_gliner2 import _batch

KINDS = ("person", "film", "song", "album", "book", "series", "band", "organization", "place", "event")


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    names = {kind: tuple(f"{kind.title()} Number{i} Name" for i in range(60)) for kind in KINDS}
    triples = [(f"Thing {i}", relation, f"Other {i}") for i in range(60) for relation in ("sits near", "is part of")]
    return Catalogue(names, [], triples)


def _questions(catalogue: Catalogue, **options: bool) -> list[Example]:
    return synthesise(catalogue, count=400, seed=7, **options)


def test_one_seed_gives_the_same_examples_twice(catalogue: Catalogue) -> None:
    assert _questions(catalogue) == _questions(catalogue)
    assert _questions(catalogue) != synthesise(catalogue, count=400, seed=8)


def test_names_of_the_dev_split_never_occur_in_training(catalogue: Catalogue) -> None:
    def named(examples: list[Example]) -> set[str]:
        return {form for example in examples for forms in example.entities.values() for form in forms}

    whole = {form for form in named(_questions(catalogue, dev=True)) if form.count(" ") == 2}
    assert whole
    assert not whole & named(_questions(catalogue))


def test_phrasings_of_the_dev_split_never_occur_in_training(catalogue: Catalogue) -> None:
    held = [family.questions[-1].replace("{x}", "").strip() for family in FAMILIES]
    texts = [example.text for example in _questions(catalogue) + _questions(catalogue, relations_only=True)]
    for family, phrasing in zip(FAMILIES, held, strict=True):
        before, after = family.questions[-1].split("{x}")
        asked = [text for text in texts if text.startswith(before) and text.endswith(after) and before and after != "?"]
        assert not asked, phrasing


def test_held_out_relations_are_asked_in_the_dev_split_alone(catalogue: Catalogue) -> None:
    held = {label for family in FAMILIES if family.held_out for label in family.labels}
    for examples in (_questions(catalogue), _questions(catalogue, relations_only=True)):
        assert not held & {label for example in examples for label in example.relations}
    assert held & {label for example in _questions(catalogue, dev=True) for label in example.asked}


def test_examples_of_relations_alone_ask_for_no_entity(catalogue: Catalogue) -> None:
    examples = _questions(catalogue, relations_only=True)
    assert all(not example.entities for example in examples)
    assert all(set(example.asked) < set(example.relations) for example in examples)
    assert max(len(example.relations) for example in examples) > 8


def test_every_third_batch_is_on_spans_and_no_example_comes_twice_in_an_epoch() -> None:
    plan = TrainingPlan(relation_batch=2, span_batch=3, span_every=3)
    records = {"relations": [f"r{i}" for i in range(20)], "spans": [f"s{i}" for i in range(9)]}
    batches = [_batch(records, plan, step) for step in range(9)]
    assert [batch[0][0] for batch in batches] == ["r", "r", "s"] * 3
    assert [len(batch) for batch in batches[:3]] == [2, 2, 3]
    spans = [one for batch in batches[2::3] for one in batch]
    assert sorted(spans) == sorted(records["spans"])
    assert len({one for batch in batches for one in batch if one[0] == "r"}) == 12


def test_a_batch_depends_on_the_seed_and_the_step_alone() -> None:
    plan = TrainingPlan(relation_batch=2, span_batch=3, span_every=3)
    records = {"relations": list(range(20)), "spans": list(range(100, 109))}
    backwards = [_batch(records, plan, step) for step in reversed(range(30))]
    assert [_batch(records, plan, step) for step in range(30)] == backwards[::-1]


def test_rates_rise_hold_and_fall_to_a_tenth() -> None:
    plan = TrainingPlan(steps=100, warm_up=10)
    shares = [plan.rate_share(step) for step in range(100)]
    assert all(left < right for left, right in pairwise(shares[:10]))
    assert set(shares[10:60]) == {1.0}
    assert all(left > right for left, right in pairwise(shares[60:95]))
    assert shares[-1] == pytest.approx(0.1)
