"""Finding a named set under a data folder, whichever of the known formats it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from eval.config import DATA_VARIABLE
from eval.data.beir import load_beir, matches_beir
from eval.data.compact import load_compact, matches_compact
from eval.data.files import sha256_of
from eval.data.pooled import load_hipporag, load_rows_file
from eval.data.records import EvalSet
from eval.data.vectors import VECTORS_FILE, content_digest, read_vectors
from eval.errors import DataError

__all__ = ["load_set"]

_WHERE = (
    "known formats: a folder with corpus.jsonl.gz and queries.jsonl.gz; a BEIR folder; <name>.json with "
    "<name>_corpus.json (HippoRAG, https://huggingface.co/datasets/osunlp/HippoRAG_2); <name>.json of "
    "HotpotQA (https://hotpotqa.github.io) or 2WikiMultihopQA (https://github.com/Alab-NII/2wikimultihop); "
    "<name>.jsonl of MuSiQue (https://github.com/StonyBrookNLP/musique)"
)
_SUFFIXES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")


def load_set(data_dir: Path, name: str, *, prepared: Sequence[Path] = (), prefer_prepared: bool = False) -> EvalSet:
    """Read the set called `name`: a folder of that name, or a file of that name with a known ending.

    Args:
        data_dir: where sets are.
        name: the set.
        prepared: folders in which `python -m eval prepare` may have left `<name>.vectors.npz`.
        prefer_prepared: use those even where the set has vectors of its own.

    Raises:
        DataError: nothing of that name is there, or it cannot be read; the message says where to get it.
    """
    if not data_dir.is_dir():
        raise DataError(data_dir, "the data folder is not there", fix=f"give --data DIR, or set {DATA_VARIABLE}")
    folder = data_dir / name
    if folder.is_dir() and matches_beir(folder):
        loaded = load_beir(folder, name=name)
    elif folder.is_dir() and matches_compact(folder):
        loaded = load_compact(folder, name=name)
    else:
        loaded = _load_file(data_dir, folder, name)
    own = [folder / VECTORS_FILE, data_dir / f"{name}.{VECTORS_FILE}"]
    others = [place / f"{name}.{VECTORS_FILE}" for place in prepared]
    if prefer_prepared:
        return _with_vectors(loaded, others)
    return loaded if loaded.vectors is not None else _with_vectors(loaded, own + others)


def _load_file(data_dir: Path, folder: Path, name: str) -> EvalSet:
    for base in (data_dir, folder):
        questions, corpus = base / f"{name}.json", base / f"{name}_corpus.json"
        if questions.is_file() and corpus.is_file():
            return load_hipporag(questions, corpus, name=name)
        for suffix in _SUFFIXES:
            if (base / f"{name}{suffix}").is_file():
                return load_rows_file(base / f"{name}{suffix}", name=name)
    there = sorted(
        item.name for item in data_dir.iterdir() if item.is_dir() and (matches_compact(item) or matches_beir(item))
    )
    raise DataError(data_dir / name, f"no such set (there: {', '.join(there) or 'none'})", fix=_WHERE)


def _with_vectors(loaded: EvalSet, places: list[Path]) -> EvalSet:
    for place in places:
        if not place.is_file():
            continue
        rows = 1 + max(question.row for question in loaded.questions)
        vectors = read_vectors(place, queries=rows, chunks=len(loaded.passages))
        if vectors.content not in (None, content_digest(loaded.passages, loaded.questions)):
            fix = "run `python -m eval prepare` for this set again"
            raise DataError(place, f"belongs to other content than {loaded.name}", fix=fix)
        kept = {file: digest for file, digest in loaded.checksums.items() if not file.endswith(VECTORS_FILE)}
        return replace(loaded, vectors=vectors, checksums={**kept, place.name: sha256_of(place)})
    return loaded
