"""A plot as SVG is well formed, whatever its labels are, and needs no style."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given, settings
from hypothesis import strategies as st

from registry.plots.plot import Bar, Plot, frequencies, histogram
from registry.plots.svg import svg

NAME = "{http://www.w3.org/2000/svg}"
PLOT = Plot(
    title="Targets",
    bars=(Bar(label="A", count=10), Bar(label="B", count=5, marked=True), Bar(label="C", count=0)),
    note="12 more",
)


def texts(shape: ET.Element) -> list[str | None]:
    return [one.text for one in shape.iter(f"{NAME}text")]


def test_bars_are_as_long_as_their_counts() -> None:
    shape = ET.fromstring(svg(PLOT))
    ten, five = shape.iter(f"{NAME}rect")
    assert float(ten.attrib["width"]) == 2 * float(five.attrib["width"])
    assert (ten.attrib["class"], five.attrib["class"]) == ("plot-bar", "plot-mark")
    assert texts(shape) == ["Targets", "A", "10", "B", "5", "C", "0", "12 more"]


def test_screen_readers_get_title_and_numbers() -> None:
    shape = ET.fromstring(svg(PLOT))
    assert shape.attrib["role"] == "img"
    assert [(one.tag, one.text) for one in shape[:2]] == [
        (f"{NAME}title", "Targets"),
        (f"{NAME}desc", "A: 10, B: 5, C: 0; 12 more"),
    ]


def test_everything_lies_within_the_picture() -> None:
    plot = frequencies("Long" * 30, {"m" * 200: 123_456_789, "日" * 50: 1})
    shape = ET.fromstring(svg(plot, width=200))
    for one in shape.iter(f"{NAME}rect"):
        assert float(one.attrib["x"]) + float(one.attrib["width"]) <= 200
    assert float(shape.attrib["height"]) >= max(
        float(one.attrib["y"]) for one in shape.iter(f"{NAME}text")
    )


@settings(deadline=None)
@given(st.text(), st.text(), st.text())
def test_any_text_is_escaped(title: str, label: str, note: str) -> None:
    text = svg(Plot(title=title, bars=(Bar(label=label, count=1),), note=note))
    shape = ET.fromstring(text)
    assert {one.tag.removeprefix(NAME) for one in shape} <= {"title", "desc", "text", "rect"}
    assert not any("style" in one.attrib for one in shape.iter())


def test_a_plot_without_bars_has_title_and_note() -> None:
    shape = ET.fromstring(svg(Plot(title="Lengths", bars=(), note="no values")))
    assert texts(shape) == ["Lengths", "no values"]


def test_labels_of_numbers_are_whole_also_in_wide_fonts() -> None:
    shape = ET.fromstring(svg(histogram("Lengths", range(0, 200_000, 1000))))
    labels = [one for one in shape.iter(f"{NAME}text") if one.get("text-anchor") == "end"]
    # A digit of DejaVu Sans, the font of many Linux browsers, is 7.63 pixels wide.
    assert all(float(one.attrib["x"]) >= 7.63 * len(one.text or "") - 8 for one in labels)
    assert {one.text for one in labels} >= {"0–19,999", "180,000–199,999"}
