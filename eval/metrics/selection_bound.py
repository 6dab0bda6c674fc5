"""Selection quality: how much of the provable maximum the selection reached.

    selection_share = value / upper bound      in [0, 1]; 1 means proven optimal

The bound is the system's own (it must hold for any selection under the budget); Leskovec et al.,
Cost-effective Outbreak Detection in Networks, KDD 2007, section 3.3, describes such an online bound.
"""

from __future__ import annotations

__all__ = ["selection_share"]


def selection_share(value: float, bound: float) -> float | None:
    """Return value over bound; None where the bound is not above zero (nothing could be selected)."""
    return min(1.0, value / bound) if bound > 0.0 else None
