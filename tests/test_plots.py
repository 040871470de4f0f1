"""Plots count every value once, in bars that can be read."""

from __future__ import annotations

import re
import statistics
from collections import Counter
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.cells import cell_len
from registry.plots import (
    Bar,
    Plot,
    frequencies,
    histogram_of_counts,
    label_line,
    median_of,
    plain_lines,
    svg,
    text_lines,
)

NAME = "{http://www.w3.org/2000/svg}"
PLOT = Plot(
    title="Targets",
    bars=(
        Bar(label="A", count=1000),
        Bar(label="(blank)", count=500, marked=True),
        Bar(label="a long label, which is cut where there is no room", count=1),
        Bar(label="none", count=0),
    ),
    note="12 more, 34 in total",
)


def bars(plot: object) -> list[tuple[str, int]]:
    return [(bar.label, bar.count) for bar in plot.bars]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("values", "most", "expected", "note"),
    [
        ([4, 2, 4, 5, 2], 12, [("2", 2), ("3", 0), ("4", 2), ("5", 1)], "median 4 letters"),
        ([0, 7, 99, 60], 5, [("0–19", 2), ("20–39", 0), ("40–59", 0), ("60–79", 1), ("80–99", 1)],
         "median 33.5 letters"),
        ([*range(100), 10**6], 4, [("0–49", 50), ("50–99", 50), ("≥ 100", 1)], "median 50 letters"),
        ([1], 12, [("1", 1)], "median 1 letter"),
        ([], 12, [], "no values"),
    ],
)  # fmt: skip
def test_ranges_are_of_round_widths_and_few_large_numbers_share_the_last(
    values: list[int], most: int, expected: list[tuple[str, int]], note: str
) -> None:
    plot = histogram_of_counts("Numbers", Counter(values), most=most, unit="letter")
    assert (bars(plot), plot.note) == (expected, note)


@settings(deadline=None)
@given(st.lists(st.integers(-5000, 10**9), min_size=1), st.integers(3, 20))
def test_every_number_is_counted_in_its_range(values: list[int], most: int) -> None:
    plot = histogram_of_counts("Any", Counter(values), most=most, unit="letter")
    assert sum(bar.count for bar in plot.bars) == len(values)
    assert len(plot.bars) <= most
    for bar in plot.bars:
        low, *high = (int(one.replace(",", "")) for one in re.findall(r"-?[\d,]+", bar.label))
        last = high[0] if high else max(values) if "≥" in bar.label else low
        assert bar.count == sum(low <= value <= last for value in values)


@settings(deadline=None)
@given(st.lists(st.integers(0, 50), min_size=1))
def test_median_is_that_of_python(values: list[int]) -> None:
    assert median_of({value: values.count(value) for value in values}) == statistics.median(values)


def test_frequencies_start_with_the_most_frequent_and_say_what_is_left_out() -> None:
    plot = frequencies("Targets", {"x": 1, " ": 3, "B": 5, "y": 1}, most=2)
    assert [(one.label, one.count, one.marked) for one in plot.bars] == [
        ("B", 5, False),
        ("(blank)", 3, True),
    ]
    assert plot.note == "2 more, 2 in total"


def test_labels_are_one_line_without_control_characters() -> None:
    assert label_line("a\n  b\x1b[31m\u202e") == "a b\\u{1b}[31m\\u{202e}"
    assert label_line("x" * 2000) == "x" * 1000 + "…"
    assert label_line("👩\u200d👩", most=2) == "👩…"


def texts(shape: ET.Element) -> list[str | None]:
    return [one.text for one in shape.iter(f"{NAME}text")]


def test_bars_are_as_long_as_their_counts_and_screen_readers_get_the_numbers() -> None:
    shape = ET.fromstring(svg(PLOT))
    whole, half, _ = shape.iter(f"{NAME}rect")
    assert float(whole.attrib["width"]) == 2 * float(half.attrib["width"])
    assert (whole.attrib["class"], half.attrib["class"]) == ("plot-bar", "plot-mark")
    shown = ["Targets", "A", "1,000", "(blank)", "500", "a long label, wh…", "1", "none", "0"]
    assert texts(shape) == [*shown, "12 more, 34 in total"]
    assert shape.attrib["role"] == "img"
    words = "A: 1,000, (blank): 500, a long label, which is cut where there is no room: 1, none: 0"
    assert [(one.tag, one.text) for one in shape[:2]] == [
        (f"{NAME}title", "Targets"),
        (f"{NAME}desc", f"{words}; 12 more, 34 in total"),
    ]
    empty = ET.fromstring(svg(Plot(title="Lengths", bars=(), note="no values")))
    assert texts(empty) == ["Lengths", "no values"]


def test_everything_lies_within_the_picture() -> None:
    plot = frequencies("Long" * 30, {"m" * 200: 123_456_789, "日" * 50: 1, "z": 1}, most=2)
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


def test_labels_of_numbers_are_whole_also_in_wide_fonts() -> None:
    shape = ET.fromstring(
        svg(histogram_of_counts("Lengths", Counter(range(0, 200_000, 1000)), unit="letter"))
    )
    labels = [one for one in shape.iter(f"{NAME}text") if one.get("text-anchor") == "end"]
    # A digit of DejaVu Sans, the font of many Linux browsers, is 7.63 pixels wide.
    assert all(float(one.attrib["x"]) >= 7.63 * len(one.text or "") - 8 for one in labels)
    assert {one.text for one in labels} >= {"0–19,999", "180,000–199,999"}


def test_bars_stand_behind_label_and_count() -> None:
    assert text_lines(PLOT, width=44, ascii_only=False) == [
        "Targets",
        "  A               1,000    █████████████████",
        "  (blank)           500 *  ████████▌",
        "  a long label,…      1    ▏",
        "  none                0",
        "  12 more, 34 in total",
    ]
    # A narrow terminal has no room for bars.
    assert text_lines(PLOT, width=20, ascii_only=False)[1] == "  A       1,000"


def test_ascii_has_no_other_characters() -> None:
    lines = text_lines(PLOT, width=44, ascii_only=True)
    assert all(line.isascii() for line in lines)
    assert lines[1] == "  A               1,000    #################"
    assert lines[3].endswith("  #")
    ranges = text_lines(
        histogram_of_counts("Größe", Counter([*range(100), 10**6]), unit="letter"),
        width=40,
        ascii_only=True,
    )
    assert any(line.startswith("  90-99   10    ######") for line in ranges)
    assert ranges[0] == "Gr\\xf6\\xdfe"
    assert any(line.startswith("  >= 100") for line in ranges)


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.text(), st.integers(0, 10**7)), max_size=5),
    st.integers(30, 200),
    st.booleans(),
)
def test_no_line_is_wider_than_the_terminal(
    rows: list[tuple[str, int]], width: int, ascii_only: bool
) -> None:
    bars = tuple(Bar(label=label, count=count, marked=True) for label, count in rows)
    plot = Plot(title="A title of 全角文字 words", bars=bars, note="a 注記 " * 20)
    assert max(map(cell_len, text_lines(plot, width=width, ascii_only=ascii_only))) <= width


def test_sentences_for_screen_readers_have_no_columns() -> None:
    assert plain_lines(PLOT, ascii_only=False)[:3] == [
        "Targets, 12 more, 34 in total",
        "A: 1,000",
        "(blank): 500",
    ]
