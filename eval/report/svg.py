"""A few SVG primitives: enough for dots, lines and axes, and nothing that needs a script or a font file."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from html import escape
from itertools import pairwise

__all__ = ["Canvas", "Scale", "linear_scale", "log_scale", "log_ticks", "spread"]

Scale = Callable[[float], float]


def linear_scale(domain: tuple[float, float], span: tuple[float, float]) -> Scale:
    """Return a map from the domain to the span; a domain of no width maps to the middle."""
    low, high = domain
    start, end = span
    if high <= low:
        return lambda _: (start + end) / 2
    return lambda value: start + (value - low) / (high - low) * (end - start)


def log_scale(domain: tuple[float, float], span: tuple[float, float]) -> Scale:
    """Return the same over the logarithm; values must be above zero."""
    inner = linear_scale((math.log10(domain[0]), math.log10(domain[1])), span)
    return lambda value: inner(math.log10(value))


def log_ticks(low: float, high: float) -> list[float]:
    """Return the powers of ten that enclose the range."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]


def spread(places: Sequence[float], *, gap: float) -> list[float]:
    """Return label places at least `gap` apart, each near its own, order kept."""
    order = sorted(range(len(places)), key=lambda item: places[item])
    moved = list(places)
    for before, after in pairwise(order):
        moved[after] = max(moved[after], moved[before] + gap)
    if order:
        shift = sum(moved[item] - places[item] for item in order) / len(order)
        moved = [place - shift for place in moved]
    return moved


class Canvas:
    """Collects shapes; colours that are not given follow the page (`currentColor`)."""

    def __init__(self, width: int, height: int, *, label: str) -> None:
        self._size = (width, height)
        self._label = label
        self._shapes: list[str] = []

    def line(
        self,
        start: tuple[float, float],
        end: tuple[float, float],
        *,
        stroke: str = "currentColor",
        width: float = 1.0,
        opacity: float = 1.0,
        dash: str = "",
    ) -> None:
        """Draw a straight line."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self._shapes.append(
            f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
            f'stroke="{stroke}" stroke-width="{width}" stroke-opacity="{opacity}"{dashed}/>'
        )

    def path(self, points: Sequence[tuple[float, float]], *, stroke: str, dash: str = "") -> None:
        """Draw a line through the points."""
        steps = " ".join(f"{'M' if number == 0 else 'L'}{x:.1f} {y:.1f}" for number, (x, y) in enumerate(points))
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self._shapes.append(f'<path d="{steps}" fill="none" stroke="{stroke}" stroke-width="2"{dashed}/>')

    def dot(self, centre: tuple[float, float], *, fill: str, title: str, radius: float = 4.5) -> None:
        """Draw a dot with a tooltip."""
        self._shapes.append(
            f'<circle cx="{centre[0]:.1f}" cy="{centre[1]:.1f}" r="{radius}" fill="{fill}">'
            f"<title>{escape(title)}</title></circle>"
        )

    def text(
        self,
        place: tuple[float, float],
        words: str,
        *,
        anchor: str = "start",
        size: float = 12.0,
        fill: str = "currentColor",
        weight: str = "normal",
        opacity: float = 1.0,
    ) -> None:
        """Write one line of text; `place` is its baseline."""
        self._shapes.append(
            f'<text x="{place[0]:.1f}" y="{place[1]:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'fill="{fill}" font-weight="{weight}" fill-opacity="{opacity}">{escape(words)}</text>'
        )

    def render(self, *, standalone: bool = False) -> str:
        """Return the SVG element; a standalone file carries colours for light and dark pages itself."""
        width, height = self._size
        style = (
            "<style>svg{color:#24292f}@media (prefers-color-scheme:dark){svg{color:#d0d7de}}</style>"
            if standalone
            else ""
        )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-label="{escape(self._label)}" '
            f'font-family="system-ui, -apple-system, Segoe UI, sans-serif">{style}'
            f"{''.join(self._shapes)}</svg>"
        )
