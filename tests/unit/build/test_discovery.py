"""The first word of a sentence belongs to a discovered phrase only where it is a name word."""

from __future__ import annotations

from pathlib import Path

import pytest

from latence_retrieval import Sidecar, build_sidecar


def discovered(target: Path, texts: list[str]) -> set[str]:
    """Return the phrases that a corpus of these chunks gives."""
    chunks = [{"id": f"c{n}", "text": text} for n, text in enumerate(texts)]
    with Sidecar.open(build_sidecar(target, chunks=chunks, discover=True).path) as sidecar:
        return {entity.name for entity in sidecar.entities(range(sidecar.manifest.counts.entities))}


@pytest.mark.parametrize("word", ["Today", "Winning", "Despite", "Since"])
def test_a_common_word_that_begins_a_sentence_is_not_glued_to_the_phrase(tmp_path: Path, word: str) -> None:
    texts = [
        f"{word} the Grey Heron Society meets.",
        f"It rained. {word} the Grey Heron Society did not meet.",
        f"We met {word.lower()}.",
    ]
    assert discovered(tmp_path / "kb", texts) == {"grey heron society"}


def test_a_word_that_no_sentence_holds_within_is_not_glued_either(tmp_path: Path) -> None:
    texts = ["Tonight the Grey Heron Society meets.", "Tonight the Grey Heron Society sings."]
    assert discovered(tmp_path / "kb", texts) == {"grey heron society"}


def test_a_name_word_that_begins_a_sentence_stays_in_its_phrase(tmp_path: Path) -> None:
    texts = [
        "Battle of Velden Ridge was won.",
        "Battle of Velden Ridge was forgotten.",
        "They fought in the Battle of Brack.",
        "We read of the Battle of Brack.",
    ]
    assert discovered(tmp_path / "kb", texts) == {"battle of velden ridge", "battle of brack"}


def test_one_chunk_that_has_the_phrase_in_both_ways_counts_once(tmp_path: Path) -> None:
    texts = ["Today the Grey Heron Society meets. We saw the Grey Heron Society.", "Nothing else."]
    assert discovered(tmp_path / "kb", texts) == set()


def test_the_phrase_recurs_at_the_beginning_and_within_a_sentence(tmp_path: Path) -> None:
    texts = ["Today the Grey Heron Society meets.", "We saw the Grey Heron Society."]
    assert discovered(tmp_path / "kb", texts) == {"grey heron society"}


def test_a_function_word_that_begins_a_sentence_is_no_part_of_any_phrase(tmp_path: Path) -> None:
    texts = ["The Grey Heron Society meets.", "In the Grey Heron Society they sing."]
    assert discovered(tmp_path / "kb", texts) == {"grey heron society"}


def test_a_capital_within_a_sentence_is_no_matter_of_its_place(tmp_path: Path) -> None:
    texts = [
        "We joined the March of the Herons.",
        "They joined the March of the Herons.",
        "We march, they march, all march, and march on.",
    ]
    assert discovered(tmp_path / "kb", texts) == {"march of the herons"}


def linked(target: Path) -> list[set[str]]:
    """Return the names of the entities that each chunk of a snapshot holds."""
    with Sidecar.open(target) as sidecar:
        names = [entity.name for entity in sidecar.entities(range(sidecar.manifest.counts.entities))]
        links = sidecar.links(range(sidecar.manifest.counts.chunks))
        return [set() if held is None else {names[entity >> 1] for entity in held.entities} for held in links]


def test_a_phrase_shuts_out_no_name_of_the_catalogue(tmp_path: Path) -> None:
    texts = ["We read the Velden Port Gazette.", "He wrote for the Velden Port Gazette.", "We saw Velden Port."]
    entities = [{"id": "v", "name": "Velden"}, {"id": "p", "name": "Velden Port"}]
    chunks = [{"id": f"c{n}", "text": text} for n, text in enumerate(texts)]
    build_sidecar(tmp_path / "kb", chunks=chunks, entities=entities, discover=True)
    # the longer of two catalogue names stands, as it does without a phrase
    assert linked(tmp_path / "kb") == [{"velden port gazette", "Velden Port"}] * 2 + [{"Velden Port"}]
