"""One GLiNER2 checkpoint: loaded once, read with one encoder forward for spans and relation labels together."""

from __future__ import annotations

import json
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from latence_retrieval.checkpoints import LazyCheckpoint, checked_count, import_packages
from latence_retrieval.entry.recognised import Recognition
from latence_retrieval.errors import InvalidInputError, ModelError, needs_extra
from latence_retrieval.ports.entry_tier import Span

__all__ = ["Extractor", "shared_extractor"]

MAX_TOKENS = 512
"""Positions that a BERT-like encoder has; a checkpoint whose encoder has fewer is held to those."""

MARGIN_TOKENS = 16
"""What separators, the task's name and the parentheses around each label list take, rounded up."""

_TASK = "relation"


@dataclass(frozen=True, slots=True)
class _Loaded:
    model: Any
    max_tokens: int
    cost: Callable[[str], int]


class Extractor:
    """A named checkpoint and its settings; see `Gliner2Tier` for what they mean.

    Safe for concurrent `read` calls: the load is locked, and inference shares no state between calls.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        device: str,
        threads: int | None,
        allow_download: bool,
        revision: str | None,
    ) -> None:
        self._device = device
        self._threads = checked_count("threads", threads)
        self.checkpoint: LazyCheckpoint[_Loaded] = LazyCheckpoint(
            model, imports=_import_packages, load=self._load, allow_download=allow_download, revision=revision
        )

    @property
    def loaded_model(self) -> Any:
        """The `gliner2` extractor itself, loading it if need be."""
        return self.checkpoint.get().model

    def read(
        self,
        text: str,
        *,
        labels: Mapping[str, str | None],
        relations: Mapping[str, str | None],
        threshold: float,
    ) -> Recognition:
        """Recognise spans and score relation labels, both in one encoder forward.

        Args:
            text: the query.
            labels: entity labels with descriptions (or None), in order of importance.
            relations: relation labels with descriptions (or None), likewise.
            threshold: least confidence of a span, in [0, 1].

        Returns:
            Spans with half-open offsets into `text`, as the model gave them, and a probability per relation label.
        """
        loaded = self.checkpoint.get()
        words, labels, relations, notes = _fit(loaded, text, labels, relations)
        if not labels and not relations:
            return Recognition(notes=notes)
        schema = loaded.model.create_schema()
        if labels:
            schema = schema.entities({k: v or {} for k, v in labels.items()})
        if relations:
            described = {label: words for label, words in relations.items() if words}
            more = {"label_descriptions": described} if described else {}
            schema = schema.classification(_TASK, list(relations), multi_label=True, cls_threshold=0.0, **more)
        found = loaded.model.extract(
            text, schema, threshold=threshold, include_confidence=True, include_spans=True, max_len=words
        )
        scores = {item["label"]: _probability(item["confidence"]) for item in found.get(_TASK) or ()}
        return Recognition(_spans(found.get("entities") or {}, text), scores if relations else None, notes)

    def _load(self, directory: Path) -> _Loaded:
        import torch
        from gliner2 import AutoExtractor

        _refuse_remote_code(directory, self.checkpoint.model)
        if self._threads is not None:
            torch.set_num_threads(self._threads)  # process-wide: torch has no other
        try:
            device = torch.device(self._device)
            model = AutoExtractor.from_pretrained(str(directory)).to(device).eval()
        except (RuntimeError, AssertionError) as error:
            if self._device != "cpu" and "checkpoint" not in str(error).lower():
                raise InvalidInputError(
                    "device", f"{self._device!r} cannot be used ({error})", fix='pass device="cpu"'
                ) from error
            raise
        tokenizer = model.processor.tokenizer
        positions = getattr(model.encoder.config, "max_position_embeddings", None) or MAX_TOKENS

        @lru_cache(maxsize=4096)
        def cost(words: str) -> int:
            return len(tokenizer.tokenize(words))

        return _Loaded(model, min(MAX_TOKENS, positions), cost)


def _import_packages() -> None:
    """Import what inference needs; gliner2's own base install declares neither torch nor transformers nor peft."""
    import_packages("gliner2", "torch", "transformers", "peft", purpose="GLiNER2")
    with needs_extra("gliner2", package="gliner2", purpose="GLiNER2"):
        from gliner2 import AutoExtractor  # noqa: F401 - lazy there: the import is what loads torch


def _refuse_remote_code(directory: Path, model: str) -> None:
    """Refuse a checkpoint that brings code of its own: gliner2 opens encoders with `trust_remote_code=True`."""
    for name in ("config.json", "encoder_config/config.json"):
        path = directory / name
        if path.is_file() and '"auto_map"' in path.read_text(encoding="utf-8", errors="replace"):
            try:
                config = json.loads(path.read_text(encoding="utf-8"))
            except ValueError:
                continue  # the loader says what is wrong with it
            if isinstance(config, dict) and config.get("auto_map"):
                raise ModelError(
                    "model",
                    model,
                    f"{name} asks for code from elsewhere to be run (auto_map)",
                    fix="use a checkpoint whose encoder transformers knows by itself",
                )


def _fit(
    loaded: _Loaded, text: str, labels: Mapping[str, str | None], relations: Mapping[str, str | None]
) -> tuple[int, dict[str, str | None], dict[str, str | None], tuple[str, ...]]:
    """Cut query, labels and relations, in this order of importance, to what the encoder can take at once.

    The query may take half of it, entity labels half of what is left, relation labels the rest: past the last
    position the encoder would raise, or read nonsense.
    """
    room = loaded.max_tokens - MARGIN_TOKENS
    notes: list[str] = []
    words, used = 0, 0
    for token, _, _ in loaded.model.processor.word_splitter(text, lower=True):
        used += max(1, loaded.cost(token))
        if used > room // 2:
            notes.append(f"gliner2: read the first {words} words of the query")
            break
        words += 1
    room -= min(used, room // 2)
    kept_labels, taken = _take(loaded, labels, room // 2 if relations else room)
    kept_relations, _ = _take(loaded, relations, room - taken)
    for what, given, kept in (("entity", labels, kept_labels), ("relation", relations, kept_relations)):
        if len(kept) < len(given):
            notes.append(f"gliner2: {len(kept)} of {len(given)} {what} labels fit into the encoder")
    return max(words, 1), kept_labels, kept_relations, tuple(notes)


def _take(loaded: _Loaded, labels: Mapping[str, str | None], room: int) -> tuple[dict[str, str | None], int]:
    """Return the first labels that fit into `room` tokens, and the tokens that they take."""
    kept: dict[str, str | None] = {}
    taken = 0
    for label, description in labels.items():
        if not label.strip():
            continue
        price = 1 + loaded.cost(label)
        if description:  # stands in the prompt beside a second copy of its label
            price += 3 + loaded.cost(label) + loaded.cost(description)
        if taken + price > room:
            break
        kept[label] = description
        taken += price
    return kept, taken


def _probability(value: float) -> float:
    return min(1.0, max(0.0, float(value)))


def _spans(found: Mapping[str, Sequence[Mapping[str, Any]]], text: str) -> tuple[Span, ...]:
    """Return typed spans; the library ends the text with a full stop of its own, which no span may include."""
    spans = []
    for label, hits in found.items():
        for hit in hits or ():
            start, end = int(hit["start"]), min(int(hit["end"]), len(text))
            if start < end:
                spans.append(Span(start, end, text[start:end], label, _probability(hit["confidence"])))
    return tuple(spans)


_shared: weakref.WeakValueDictionary[tuple[Any, ...], Extractor] = weakref.WeakValueDictionary()
_shared_lock = threading.Lock()


def shared_extractor(
    model: str | os.PathLike[str],
    *,
    device: str,
    threads: int | None,
    allow_download: bool,
    revision: str | None,
) -> Extractor:
    """Return one extractor for equal settings, so that a tier and a signal of one checkpoint load it once."""
    try:
        key = (os.fspath(model), device, threads, allow_download, revision)
        with _shared_lock:
            known = _shared.get(key)
            if known is None:
                known = _shared[key] = Extractor(
                    model, device=device, threads=threads, allow_download=allow_download, revision=revision
                )
            return known
    except TypeError:  # not a path: the extractor says so by name
        return Extractor(model, device=device, threads=threads, allow_download=allow_download, revision=revision)
