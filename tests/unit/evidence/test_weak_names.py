"""How sure the names of a question are decides how much of the walk the first stage starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from latence_retrieval import Settings, build_sidecar, retrieve_evidence
from latence_retrieval.entry.restart import restart_vector
from latence_retrieval.evidence.entering import Entered
from latence_retrieval.ports.entry_tier import Link
from latence_retrieval.results import Signal
from latence_retrieval.settings import WalkSettings

QUESTION = "Who runs the harbour of Kent where the Marlow was built?"


def _entered(*links: Link) -> Entered:
    return Entered(tuple(restart_vector(links, max_anchors=8)), (), None)


@pytest.mark.parametrize(
    ("weights", "doubt"), [((0.4,), 0.0), ((0.2, 0.1), 0.0), ((0.1, 0.05), 0.5), ((0.03,), 0.9), ((), 0.0)]
)
def test_doubt_is_what_tier_1_names_together_fall_short_of(weights: tuple[float, ...], doubt: float) -> None:
    links = [Link(number, weight, "alias") for number, weight in enumerate(weights)]
    assert _entered(*links).doubt(0.3) == pytest.approx(doubt)
    assert _entered(*links).doubt(0.0) == 0.0


def test_names_of_another_tier_are_not_doubted() -> None:
    assert _entered(Link(1, 0.01, "alias"), Link(2, 0.01, "mine")).doubt(0.3) == 0.0


def test_a_weak_name_leaves_mass_to_the_first_stage(tmp_path: Path) -> None:
    """Every passage names Kent, so that the name tells next to nothing; and it is the only one that is linked."""
    chunks = [{"id": "title", "title": "Kent", "text": "Kent is a county by the sea."}]
    chunks.append({"id": "asked", "title": "Marlow yard", "text": "In Kent, the Marlow was built by Jo Finch."})
    chunks += [{"id": f"c{at}", "title": f"Town {at}", "text": f"Town {at} lies in Kent."} for at in range(30)]
    path = tmp_path / "sidecar"
    build_sidecar(path, chunks=chunks, titles_as_entities=True)

    def beside_the_first_stage(sure_weight: float) -> float:
        settings = Settings(walk=WalkSettings(sure_weight=sure_weight))
        result = retrieve_evidence(QUESTION, sidecar=path, first_stage=["asked"], settings=settings)
        assert [anchor.name for anchor in result.anchors] == ["Kent"]
        activation = {item.chunk_id: item.signals[Signal.ACTIVATION] for item in result.ranking}
        return activation["title"] / activation["asked"]

    assert beside_the_first_stage(0.3) < 0.9 * beside_the_first_stage(0.0)
