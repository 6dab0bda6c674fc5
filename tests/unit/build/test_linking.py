"""Catalogue linking: which names the builder finds in running text, and what it makes of each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from latence_retrieval import Sidecar, build_sidecar, retrieve_evidence, verify_sidecar
from latence_retrieval.sidecar.codec import EDGES_PER_BLOCK, EdgeKind, sentence_mask


def linked(tmp_path: Path, entities: list[dict[str, Any]], texts: list[str], **options: Any) -> list[set[str]]:
    """Return for each text the ids of the entities that the builder links it to."""
    chunks = [{"id": f"c{n}", "text": text} for n, text in enumerate(texts)]
    path = build_sidecar(tmp_path / "sidecar", chunks=chunks, entities=entities, **options).path
    verify_sidecar(path)
    return [set(found) for found in entities_of(path, len(chunks))]


def entities_of(path: Path, count: int) -> list[dict[str, int]]:
    """Return for each chunk its entities with the mask of the sentences that name each."""
    with Sidecar.open(path) as sidecar:
        found = []
        for links in sidecar.links(range(count)):
            numbers = [] if links is None else [packed >> 1 for packed in links.entities]
            ids = [entity.id for entity in sidecar.entities(numbers)]
            found.append(dict(zip(ids, [] if links is None else links.masks, strict=True)))
        return found


def one(name: str, *aliases: str) -> list[dict[str, Any]]:
    return [{"id": "e", "name": name, "aliases": list(aliases)}]


FOUND = [
    ("Dog's Heart", "We read the Dog's Heart twice."),
    ("Dog's Heart", "We read the Dog’s Heart twice."),
    ("Dog's Heart", "We read the Dog'S Heart twice."),
    ("Dog’s Heart", "We read the DOG'S HEART twice."),
    ("Orrin", "Then Orrin's books closed."),
    ("Orrin", "Then Orrin’s books closed."),
    ("Zoë Brémond", "It was Zoe Bremond who left."),
    ("Zoe Bremond", "It was Zoë Brémond who left."),
    ("Zoë", "It was Zoe\u0308 who left."),
    ("AX-100", "The code AX100 is on it."),
    ("AX100", "The code AX 100 is on it."),
    ("AX 100", "The code ＡＸ－１００ is on it."),
    ("J. R. R. Morrow", "A book of J.R.R. Morrow was lost."),
    ("J.R.R. Morrow", "A book of JRR Morrow was lost."),
    ("The Zone (2017 film)", "We saw The Zone yesterday."),
    ("Müller", "Then Mueller came."),
    ("Orrin Works Ltd", "The firm Orrin Works pays."),
    ("天霧財団", "本年、天霧財団が株式を買った。"),
    ("บางกอก", "เราไปบางกอกเมื่อวาน"),
    ("Άλφα", "Η εταιρεία ΑΛΦΑ πληρώνει."),
    ("Москва", "Мы любим МОСКВА всегда."),
    ("O'Brien", "Then O’Brien sang."),
    ("AT&T", "Lines by AT & T failed."),
]


@pytest.mark.parametrize(("name", "text"), FOUND, ids=range(len(FOUND)))
def test_a_name_is_found_in_passages_and_queries_however_it_is_written(tmp_path: Path, name: str, text: str) -> None:
    assert linked(tmp_path, one(name), [text]) == [{"e"}]
    result = retrieve_evidence(text, sidecar=tmp_path / "sidecar")
    assert [anchor.entity_id for anchor in result.anchors] == ["e"]
    anchor = result.anchors[0]
    assert anchor.form == text[anchor.start : anchor.end]


NOT_FOUND = [
    ("Fall", "In the fall leaves fall and fall."),
    ("The", "The house is old."),
    ("7", "There are 7 of them."),
    ("Orrin", "The Orrington family left."),
    ("New Velden", "New rules in Velden apply."),
]


@pytest.mark.parametrize(("name", "text"), NOT_FOUND, ids=range(len(NOT_FOUND)))
def test_what_is_no_mention_is_not_linked(tmp_path: Path, name: str, text: str) -> None:
    assert linked(tmp_path, one(name), [text]) == [set()]


def test_a_derived_acronym_is_not_linked_in_text(tmp_path: Path) -> None:
    entities = one("Orrin Works Alliance")
    assert linked(tmp_path, entities, ["The owa sang.", "Orrin Works Alliance sang."]) == [set(), {"e"}]


def test_the_longest_name_wins(tmp_path: Path) -> None:
    entities = [{"id": "short", "name": "Orrin"}, {"id": "long", "name": "Orrin Works"}]
    assert linked(tmp_path, entities, ["At Orrin Works today.", "At Orrin today."]) == [{"long"}, {"short"}]


def test_homonyms_without_vectors_are_all_linked_unless_there_are_many(tmp_path: Path) -> None:
    few = [{"id": f"e{n}", "name": "Lumen"} for n in range(3)]
    assert linked(tmp_path / "few", few, ["We saw Lumen today."]) == [{"e0", "e1", "e2"}]
    many = [{"id": f"e{n}", "name": "Lumen"} for n in range(9)]
    assert linked(tmp_path / "many", many, ["We saw Lumen today."]) == [set()]


def test_homonyms_with_vectors_are_told_apart_by_the_passage(tmp_path: Path) -> None:
    entities = [
        {"id": "lamp", "name": "Lumen", "vector": [1.0, 0.0]},
        {"id": "city", "name": "Lumen", "vector": [0.0, 1.0]},
    ]
    found = linked(
        tmp_path, entities, ["So bright, Lumen.", "So large, Lumen."], chunk_vectors=[[0.9, 0.1], [0.1, 0.9]]
    )
    assert found == [{"lamp"}, {"city"}]


def test_a_homonym_of_the_passages_own_subject_is_not_linked(tmp_path: Path) -> None:
    entities = [{"id": "lamp", "name": "Lumen"}, {"id": "city", "name": "Lumen"}]
    chunks = [{"id": "c", "text": "We saw Lumen today.", "about": ["city"]}]
    path = build_sidecar(tmp_path / "s", chunks=chunks, entities=entities).path
    assert list(entities_of(path, 1)[0]) == ["city"]


def test_masks_tell_the_sentences_that_name_an_entity(tmp_path: Path) -> None:
    text = (
        "Here comes Orrin today. Nobody saw Velden there. It was Orrin. "
        + "Rain fell again. " * 40
        + "Then Brack closed."
    )
    entities = [{"id": name, "name": name} for name in ("Orrin", "Velden", "Brack")]
    path = build_sidecar(tmp_path / "s", chunks=[{"id": "c", "text": text}], entities=entities).path
    assert entities_of(path, 1)[0] == {
        "Orrin": sentence_mask(0) | sentence_mask(2),
        "Velden": sentence_mask(1),
        "Brack": sentence_mask(31),
    }


def test_discovered_phrases_recur_and_are_marked(tmp_path: Path) -> None:
    texts = [
        "Long ago the Grey Heron Society met. The fall was wet.",
        "Often the old Grey Heron Society meets in Brack. One Lonely Phrase stays alone.",
        "In spring Brack floods. Trouble came, and trouble stayed.",
        "Trouble again in a Brack pub.",
    ]
    found = linked(tmp_path, one("Orrin"), texts, discover=True)
    assert found == [
        {"phrase:grey heron society"},
        {"phrase:grey heron society", "phrase:brack"},
        {"phrase:brack"},
        {"phrase:brack"},
    ]
    with Sidecar.open(tmp_path / "sidecar") as sidecar:
        number = sidecar.entity_numbers(["phrase:brack"])[0]
        assert sidecar.entities([number])[0].discovered  # type: ignore[list-item]
        assert sidecar.manifest.counts.catalogue_entities == 1


def test_a_phrase_that_the_catalogue_has_is_not_discovered(tmp_path: Path) -> None:
    texts = ["We met Ada Morrow there.", "Then Ada Morrow left."]
    assert linked(tmp_path, one("Ada Morrow"), texts, discover=True) == [{"e"}, {"e"}]


def test_a_catalogue_id_that_looks_discovered_is_no_obstacle(tmp_path: Path) -> None:
    entities = [{"id": "phrase:ada morrow", "name": "Somebody Else"}]
    found = linked(tmp_path, entities, ["We met Ada Morrow there.", "Then Ada Morrow left."], discover=True)
    assert found[0] == found[1]
    assert len(found[0]) <= 1


def test_a_property_called_discovered_marks_nothing(tmp_path: Path) -> None:
    entities = [
        {"id": "a", "name": "Ada Morrow", "properties": {"discovered": True}},
        {"id": "b", "name": "Brack", "description": '"discovered":true'},
    ]
    path = build_sidecar(
        tmp_path / "s", chunks=[{"id": "c", "text": "There Ada Morrow met Brack."}], entities=entities
    ).path
    with Sidecar.open(path) as sidecar:
        links = sidecar.links([0])[0]
        assert links is not None
        assert [packed & 1 for packed in links.entities] == [0, 0]


def test_linking_can_be_left_out(tmp_path: Path) -> None:
    assert linked(tmp_path, one("Orrin"), ["At Orrin today."], link=False) == [set()]


def test_titles_become_entities_once_each(tmp_path: Path) -> None:
    chunks = [
        {"id": "c0", "title": "Brack", "text": "A town."},
        {"id": "c1", "title": "Brack", "text": "More of it."},
        {"id": "c2", "title": "Orrin Works", "text": "In the town of Brack.", "about": ["o"]},
        {"id": "c3", "text": "No title here."},
    ]
    path = build_sidecar(
        tmp_path / "s", chunks=chunks, entities=[{"id": "o", "name": "Orrin"}], titles_as_entities=True
    ).path
    assert [set(found) for found in entities_of(path, 4)] == [
        {"title:Brack"},
        {"title:Brack"},
        {"o", "title:Brack"},
        set(),
    ]


# The graph


def test_a_fact_of_many_members_stands_with_each_of_them(tmp_path: Path) -> None:
    entities = [{"id": f"e{n}", "name": f"Thing number {n}"} for n in range(5)]
    facts = [
        {
            "id": "f",
            "relation": "meets",
            "members": [f"e{n}" for n in (0, 1, 2, 3, 1)],
            "chunk": "c",
            "confidence": 0.25,
        }
    ]
    path = build_sidecar(
        tmp_path / "s", chunks=[{"id": "c", "text": "They meet."}], entities=entities, facts=facts
    ).path
    verify_sidecar(path)
    with Sidecar.open(path) as sidecar:
        for number in range(4):
            block = sidecar.incidence(number)
            assert block is not None
            at = block.kinds.index(EdgeKind.FACT)
            start = block.ends[at - 1] if at else 0
            assert {packed >> 1 for packed in block.members[start : block.ends[at]]} == {0, 1, 2, 3} - {number}
            assert (block.marks[at], block.confidences[at]) == (0, 250_000)
        assert sidecar.incidence(4) is None
        fact = sidecar.facts([0])[0]
        assert (fact.id, fact.members, fact.confidence) == ("f", [0, 1, 2, 3, 1], 0.25)
        assert set(entities_of(path, 1)[0]) == {"e0", "e1", "e2", "e3"}


def test_a_hub_is_laid_out_in_blocks_of_ascending_strength(tmp_path: Path) -> None:
    count = 2 * EDGES_PER_BLOCK + 7
    chunks = [
        {"id": f"c{n}", "text": "We saw Orrin there.", "about": ["e"] if n % 50 == 0 else []} for n in range(count)
    ]
    facts = [
        {"relation": "r", "members": ["e", "x"], "chunk": f"c{n}", "confidence": n / count} for n in range(0, count, 9)
    ]
    entities = [*one("Orrin"), {"id": "x", "name": "Exotic"}]
    path = build_sidecar(tmp_path / "s", chunks=chunks, entities=entities, facts=facts).path
    verify_sidecar(path)
    with Sidecar.open(path) as sidecar:
        blocks = []
        while (block := sidecar.incidence(0, len(blocks))) is not None:
            blocks.append(block)
        kinds = [kind for block in blocks for kind in block.kinds]
        assert [len(block.kinds) for block in blocks][:2] == [EDGES_PER_BLOCK] * 2
        assert {block.degree for block in blocks} == {len(kinds)} == {count + len(facts)}
        assert kinds == sorted(kinds)
        confidences = [
            c
            for block in blocks
            for c, kind in zip(block.confidences, block.kinds, strict=True)
            if kind == EdgeKind.FACT
        ]
        assert confidences == sorted(confidences, reverse=True)
    assert retrieve_evidence("Where is Orrin?", sidecar=path).ranking


def test_a_fact_with_more_members_than_are_inlined_is_kept_whole_in_its_record(tmp_path: Path) -> None:
    entities = [{"id": f"e{n}", "name": f"Thing number {n}"} for n in range(200)]
    facts = [{"relation": "meets", "members": [f"e{n}" for n in range(200)], "chunk": "c"}]
    path = build_sidecar(
        tmp_path / "s", chunks=[{"id": "c", "text": "They meet."}], entities=entities, facts=facts
    ).path
    verify_sidecar(path)
    with Sidecar.open(path) as sidecar:
        assert sidecar.facts([0])[0].members == list(range(200))
    assert retrieve_evidence("Thing number 7", sidecar=path).ranking[0].chunk_id == "c"


def test_long_names_and_ids_are_found_whole(tmp_path: Path) -> None:
    stem = "wort " * 200
    entities = [{"id": f"{'x' * 600}{n}", "name": f"{stem}{word}"} for n, word in enumerate(("alpha", "beta"))]
    chunks = [
        {"id": f"{'y' * 600}{n}", "text": f"Es ist {stem}{word}."} for n, word in enumerate(("alpha", "beta", "gamma"))
    ]
    path = build_sidecar(tmp_path / "s", chunks=chunks, entities=entities).path
    verify_sidecar(path)
    with Sidecar.open(path) as sidecar:
        assert sidecar.entity_numbers([entity["id"] for entity in entities] + ["x" * 600]) == [0, 1, None]
        assert sidecar.chunk_numbers([chunk["id"] for chunk in chunks] + ["y" * 600]) == [0, 1, 2, None]
    result = retrieve_evidence(f"Was ist {stem}beta?", sidecar=path)
    assert [anchor.entity_id for anchor in result.anchors] == [entities[1]["id"]]


@pytest.mark.parametrize("text", ["", " ", "\x00", "...", "\n\n\n", "。！？", "a" * 100_000, "A. " * 5_000])
def test_any_text_is_indexed(tmp_path: Path, text: str) -> None:
    chunks = [{"id": "c", "text": text, "title": text[:50] or None}]
    path = build_sidecar(
        tmp_path / "s", chunks=chunks, entities=one("Orrin"), titles_as_entities=True, discover=True
    ).path
    verify_sidecar(path)
    with Sidecar.open(path) as sidecar:
        assert sidecar.chunks([0])[0].text == text
