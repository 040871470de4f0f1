"""Plots count every value once, in bars that can be read."""

from __future__ import annotations

import re
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.plots.plot import frequencies, histogram, median_of


def bars(plot: object) -> list[tuple[str, int]]:
    return [(bar.label, bar.count) for bar in plot.bars]  # type: ignore[attr-defined]


def test_small_numbers_have_a_bar_each_also_where_there_are_none() -> None:
    plot = histogram("Choices", [4, 2, 4, 5, 2], unit="choices")
    assert bars(plot) == [("2", 2), ("3", 0), ("4", 2), ("5", 1)]
    assert plot.note == "median 4 choices"


def test_ranges_are_of_round_widths() -> None:
    plot = histogram("Lengths", [0, 7, 99, 60, 61], most=5)
    assert bars(plot) == [("0–19", 2), ("20–39", 0), ("40–59", 0), ("60–79", 2), ("80–99", 1)]


def test_few_large_numbers_share_the_last_bar() -> None:
    plot = histogram("Lengths", [*range(100), 1_000_000])
    assert bars(plot)[-1] == ("≥ 100", 1)
    assert len(plot.bars) <= 12


def test_no_values_have_no_bars() -> None:
    assert histogram("Lengths", []).note == "no values"


@settings(deadline=None)
@given(st.lists(st.integers(-5000, 10**9), min_size=1), st.integers(3, 20))
def test_every_number_is_counted_in_its_range(values: list[int], most: int) -> None:
    plot = histogram("Any", values, most=most)
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


def test_median_of_nothing_is_an_error() -> None:
    with pytest.raises(ValueError, match="no values"):
        median_of({})


def test_frequencies_start_with_the_most_frequent_and_say_what_is_left_out() -> None:
    plot = frequencies("Targets", {"x": 1, "A": 3, "B": 5, "y": 1}, most=2)
    assert bars(plot) == [("B", 5), ("A", 3)]
    assert plot.note == "2 more, 2 in total"


def test_blank_values_are_marked() -> None:
    plot = frequencies("Targets", {" ": 2, "A": 1})
    assert [(bar.label, bar.marked) for bar in plot.bars] == [("(blank)", True), ("A", False)]
