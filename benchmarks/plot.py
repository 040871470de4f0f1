"""Draw the ratios of mappings as SVG: sorted, on a log scale, with the goals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from benchmarks.distribution import Quantile

__all__ = ["plot"]

_WIDTH, _HEIGHT = 760, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 20, 30, 50
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_COLORS = ("one", "two")
_STYLE = """
text { font: 12px sans-serif; fill: #24292f; }
.axis { stroke: #d0d7de; } .even { stroke: #6e7781; }
.one { fill: #0969da; stroke: #0969da; } .two { fill: #bc4c00; stroke: #bc4c00; }
.goal { stroke-width: 2; stroke-dasharray: 4 3; }
text.one, text.two { stroke: none; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .axis { stroke: #30363d; } .even { stroke: #8b949e; }
  .one { fill: #58a6ff; stroke: #58a6ff; } .two { fill: #f0883e; stroke: #f0883e; }
}
"""


def plot(series: Mapping[str, tuple[Sequence[float], Sequence[Quantile]]]) -> str:
    """Return an SVG image.

    Args:
        series: Name of each series, with its ratios and the goals for them; at most two.
    """
    values = [one for ratios, goals in series.values() for one in (*ratios, *_limits(goals))]
    scale = _Scale(min(*values, 0.5), max(*values, 2))
    root = Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img"
    )
    SubElement(root, "title").text = "Ratio to inspect_ai over the mappings of the catalog, sorted"
    SubElement(root, "style").text = _STYLE
    _axes(root, scale)
    for number, (name, (ratios, goals)) in enumerate(series.items()):
        _series(root, scale, _COLORS[number], sorted(ratios), goals)
        _text(root, _LEFT + 10, _TOP + 6 + 18 * number, f"● {name}", kind=_COLORS[number])
    indent(root)
    return tostring(root, encoding="unicode") + "\n"


def _limits(goals: Sequence[Quantile]) -> list[float]:
    return [goal.limit for goal in goals]


class _Scale:
    """Shares of the mappings and ratios → places in the image."""

    def __init__(self, least: float, most: float) -> None:
        self.ticks = [tick for tick in _TICKS if least / 2 <= tick <= most * 2]
        low, high = min(self.ticks[0], least), max(self.ticks[-1], most)
        self._low, self._span = math.log(low), math.log(high) - math.log(low)

    def x(self, share: float) -> float:
        return round(_LEFT + share * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, ratio: float) -> float:
        height = (math.log(ratio) - self._low) / self._span
        return round(_HEIGHT - _BOTTOM - height * (_HEIGHT - _TOP - _BOTTOM), 1)


def _axes(root: Element, scale: _Scale) -> None:
    for tick in scale.ticks:
        kind = "even" if tick == 1 else "axis"
        _line(root, (scale.x(0), scale.x(1)), (scale.y(tick), scale.y(tick)), kind)
        _text(root, _LEFT - 8, scale.y(tick) + 4, f"{tick:g} ×", anchor="end")  # noqa: RUF001 (times)
    for share in (0, 0.1, 0.25, 0.5, 0.75, 1):
        _text(root, scale.x(share), _HEIGHT - _BOTTOM + 18, f"{share:.0%}", anchor="middle")
    words = "mappings, the slowest first; above 1 × ours is faster; dashes: goals"  # noqa: RUF001 (times)
    _text(root, scale.x(0.5), _HEIGHT - 12, words, anchor="middle")


def _series(
    root: Element, scale: _Scale, kind: str, ratios: Sequence[float], goals: Sequence[Quantile]
) -> None:
    for place, ratio in enumerate(ratios):
        share = (place + 0.5) / len(ratios)
        where = {"cx": str(scale.x(share)), "cy": str(scale.y(ratio))}
        SubElement(root, "circle", {**where, "r": "2.5", "class": kind})
    for goal in goals:
        around = (scale.x(max(goal.share - 0.04, 0)), scale.x(goal.share + 0.04))
        _line(root, around, (scale.y(goal.limit), scale.y(goal.limit)), f"{kind} goal")


def _line(root: Element, xs: tuple[float, float], ys: tuple[float, float], kind: str) -> None:
    places = {"x1": xs[0], "x2": xs[1], "y1": ys[0], "y2": ys[1]}
    SubElement(root, "line", {**{name: str(at) for name, at in places.items()}, "class": kind})


def _text(
    root: Element, x: float, y: float, words: str, *, anchor: str = "start", kind: str = ""
) -> None:
    element = SubElement(root, "text", {"x": str(x), "y": str(y), "text-anchor": anchor})
    if kind:
        element.set("class", kind)
    element.text = words
