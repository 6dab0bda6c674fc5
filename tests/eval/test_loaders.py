"""Every format that the harness reads, on fixtures of a few lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tiny_set import CORPUS, QUERIES, write_lines

from eval.data import load_set
from eval.errors import DataError

MakeSet = Callable[..., Path]


def test_compact_set_is_read_with_all_that_stands_beside_it(make_set: MakeSet) -> None:
    data = load_set(make_set(), "tiny")
    assert [passage.id for passage in data.passages] == list("abcdef")
    assert data.passages[0].packed.startswith("Blue Harbour (film)\nBlue Harbour is")
    assert data.questions[1].hops == ("c", "d", "f")
    assert data.questions[0].evidences[0] == ("Blue Harbour (film)", "director", "Ana Reyes")
    assert data.anchors is not None
    assert data.anchors["q1"][0].passage_id == "a"
    assert data.vectors is not None
    assert data.vectors.chunks.shape == (6, 8)
    assert set(data.checksums) == {
        "corpus.jsonl.gz",
        "queries.jsonl.gz",
        "query_anchors.jsonl.gz",
        "vectors.npz",
    }


def test_compact_set_of_the_needed_fields_alone_is_enough(tmp_path: Path) -> None:
    write_lines(tmp_path / "bare" / "corpus.jsonl", [{"id": 1, "text": "one"}, {"id": 2, "title": "t", "text": None}])
    write_lines(tmp_path / "bare" / "queries.jsonl", [{"id": 7, "question": "what?", "gold_ids": [1]}])
    data = load_set(tmp_path, "bare")
    assert data.passages[0].id == "1"
    assert data.passages[0].packed == "one"
    assert data.questions[0].gold_ids == ("1",)
    assert (data.vectors, data.anchors, data.questions[0].hop_count) == (None, None, 1)


def test_questions_without_gold_are_left_out_with_a_note_and_keep_rows_apart(make_set: MakeSet) -> None:
    rows = [{"id": "none", "question": "no gold?", "gold_ids": []}, *QUERIES[:2]]
    data = load_set(make_set(queries=rows), "tiny")
    assert [(question.id, question.row) for question in data.questions] == [("q1", 1), ("q2", 2)]
    assert "1 questions without text or gold" in data.notes[0]


def test_optional_labels_may_be_null_or_of_another_shape(make_set: MakeSet) -> None:
    folder = make_set(
        queries=[
            {
                **QUERIES[0],
                "evidences": [["a", "b"], "x", None],
                "decomposition": ["q", {"support_id": None}],
                "context_ids": None,
                "answer": None,
            },
            *QUERIES[1:],
        ]
    )
    write_lines(
        folder / "tiny" / "query_anchors.jsonl.gz",
        [
            {"id": "q1", "anchors": [{"id": "a", "start": None, "end": None, "mention": None}, {"id": None}, "b"]},
            {"id": "q2", "anchors": None},
        ],
    )
    data = load_set(folder, "tiny")
    assert (data.questions[0].evidences, data.questions[0].hops) == ((), ())
    assert data.anchors is not None
    assert [(anchor.passage_id, anchor.start) for anchor in data.anchors["q1"]] == [("a", -1)]
    assert data.anchors["q2"] == ()


def test_gold_that_is_not_in_the_corpus_is_noted(make_set: MakeSet) -> None:
    data = load_set(
        make_set(vectors=False, queries=[{"id": "q", "question": "x?", "gold_ids": ["a", "nowhere"]}]), "tiny"
    )
    assert "1 gold ids are not in the corpus" in data.notes[0]


def test_missing_set_lists_those_that_are_there_and_where_to_get_more(make_set: MakeSet) -> None:
    with pytest.raises(DataError, match=r"no such set \(there: tiny\).*hotpotqa"):
        load_set(make_set(), "other")


def test_missing_data_folder_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="LATENCE_EVAL_DATA"):
        load_set(tmp_path / "nowhere", "tiny")


def test_repeated_passage_id_is_refused(make_set: MakeSet) -> None:
    with pytest.raises(DataError, match="'a' stands twice"):
        load_set(make_set(corpus=[CORPUS[0], CORPUS[0]], vectors=False), "tiny")


def test_truncated_file_is_refused_by_name(make_set: MakeSet) -> None:
    folder = make_set(vectors=False)
    path = folder / "tiny" / "corpus.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"corpus\.jsonl\.gz"):
        load_set(folder, "tiny")


@pytest.mark.parametrize("key", ["queries", "chunks", "entities"])
def test_vectors_with_other_rows_than_records_are_refused(make_set: MakeSet, key: str) -> None:
    np = pytest.importorskip("numpy")
    folder = make_set(arrays={key: np.ones((99, 8), dtype=np.float16)})
    with pytest.raises(DataError, match=f"'{key}' has shape"):
        load_set(folder, "tiny")


def test_vectors_with_nan_are_refused(make_set: MakeSet) -> None:
    np = pytest.importorskip("numpy")
    folder = make_set(arrays={"queries": np.full((3, 8), np.nan, dtype=np.float16)})
    with pytest.raises(DataError, match="NaN"):
        load_set(folder, "tiny")


CONTEXT_ROW: dict[str, Any] = {
    "_id": "h1",
    "question": "Where was the maker of Blue Harbour born?",
    "answer": "Lisbon",
    "type": "bridge",
    "context": [
        ["Blue Harbour", ["It was made", " by Ana Reyes."]],
        ["Ana Reyes", ["Born in Lisbon."]],
        ["Other", ["Nothing."]],
    ],
    "supporting_facts": [["Blue Harbour", 0], ["Ana Reyes", 0], ["Blue Harbour", 1]],
    "evidences": [["Blue Harbour", "maker", "Ana Reyes"]],
}


def test_hotpotqa_and_2wiki_json_is_pooled(tmp_path: Path) -> None:
    again = {**CONTEXT_ROW, "_id": "h2", "context": CONTEXT_ROW["context"][:2]}
    (tmp_path / "hotpot.json").write_text(json.dumps([CONTEXT_ROW, again]))
    data = load_set(tmp_path, "hotpot")
    assert [passage.title for passage in data.passages] == ["Blue Harbour", "Ana Reyes", "Other"]
    assert data.passages[0].text == "It was made by Ana Reyes."
    assert data.questions[0].gold_ids == data.questions[1].gold_ids == ("p-000000", "p-000001")
    assert data.questions[0].evidences == (("Blue Harbour", "maker", "Ana Reyes"),)


def test_columnar_mirror_of_hotpotqa_is_read_alike(tmp_path: Path) -> None:
    row = {
        **CONTEXT_ROW,
        "id": "h1",
        "context": {"title": ["A", "B"], "sentences": [["a."], ["b."]]},
        "supporting_facts": {"title": ["B"], "sent_id": [0]},
    }
    (tmp_path / "mirror.json").write_text(json.dumps([row]))
    assert load_set(tmp_path, "mirror").questions[0].gold_ids == ("p-000001",)


def test_test_file_without_gold_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "hidden.json").write_text(json.dumps([{"_id": "x", "question": "?", "context": []}]))
    with pytest.raises(DataError, match="test files carry no gold"):
        load_set(tmp_path, "hidden")


PARAGRAPH_ROW: dict[str, Any] = {
    "id": "2hop__1_2",
    "question": "Where was the maker of Blue Harbour born?",
    "answer": "Lisbon",
    "answerable": True,
    "paragraphs": [
        {"idx": 0, "title": "Other", "paragraph_text": "Nothing.", "is_supporting": False},
        {"idx": 1, "title": "Ana Reyes", "paragraph_text": "Born in Lisbon.", "is_supporting": True},
        {"idx": 2, "title": "Blue Harbour", "paragraph_text": "By Ana Reyes.", "is_supporting": True},
    ],
    "question_decomposition": [{"paragraph_support_idx": 2}, {"paragraph_support_idx": 1}],
}


def test_musique_lines_are_pooled_with_hops_in_order(tmp_path: Path) -> None:
    (tmp_path / "musique.jsonl.gz").write_bytes(gzip.compress((json.dumps(PARAGRAPH_ROW) + "\n").encode()))
    question = load_set(tmp_path, "musique").questions[0]
    assert question.hops == ("p-000002", "p-000001")
    assert question.gold_ids == ("p-000001", "p-000002")
    assert question.type == "2hop"


def test_hipporag_pair_is_searched_over_its_own_corpus(tmp_path: Path) -> None:
    corpus = [
        {"title": "Noise", "text": "n"},
        {"title": "Blue Harbour", "text": "It was made by Ana Reyes."},
        {"title": "Ana Reyes", "text": "Born in Lisbon."},
    ]
    (tmp_path / "pair_corpus.json").write_text(json.dumps(corpus))
    (tmp_path / "pair.json").write_text(json.dumps([CONTEXT_ROW]))
    data = load_set(tmp_path, "pair")
    assert len(data.passages) == 3
    assert data.questions[0].gold_ids == ("p-000001", "p-000002")


def test_beir_folder_takes_gold_from_the_test_judgements(tmp_path: Path) -> None:
    folder = tmp_path / "beir"
    write_lines(
        folder / "corpus.jsonl",
        [{"_id": "1", "title": "t", "text": "x"}, {"_id": "2", "title": "", "text": "y"}],
    )
    write_lines(folder / "queries.jsonl", [{"_id": "q", "text": "x?"}, {"_id": "unjudged", "text": "z?"}])
    (folder / "qrels").mkdir()
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\t1\t1\nq\t2\t0\n")
    data = load_set(tmp_path, "beir")
    assert [question.gold_ids for question in data.questions] == [("1",)]


def test_prepared_vectors_of_other_content_are_refused(make_set: MakeSet, tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    from eval.prepare import write_vectors

    folder = make_set(vectors=False)
    data = load_set(folder, "tiny")
    arrays = {"queries": np.ones((3, 4)), "chunks": np.ones((6, 4)), "entities": np.ones((6, 4))}
    write_vectors(tmp_path / "kept" / "tiny.vectors.npz", data, model="some-model", **arrays)
    found = load_set(folder, "tiny", prepared=[tmp_path / "kept"])
    assert found.vectors is not None
    assert found.vectors.model == "some-model"
    changed = make_set(vectors=False, corpus=[*CORPUS[:5], {**CORPUS[5], "text": "Something else."}])
    with pytest.raises(DataError, match="belongs to other content"):
        load_set(changed, "tiny", prepared=[tmp_path / "kept"])
