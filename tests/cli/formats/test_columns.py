"""Aligned values, and names that are too long for their column."""

from __future__ import annotations

from registry.cli.formats.columns import Columns

ROWS = [("name", "number"), ("a-long-name", "1"), ("都", "22")]


def test_values_are_aligned_by_their_width_on_the_screen() -> None:
    columns = Columns.of(ROWS, right=(1,), width=None)
    assert [line for row in ROWS for line in columns.lines(row, width=0)] == [
        "name         number",
        "a-long-name       1",
        "都               22",
    ]
    assert columns.total == 19


def test_name_that_does_not_fit_has_its_own_lines() -> None:
    columns = Columns.of(ROWS, right=(1,), width=15)
    assert [line for row in ROWS for line in columns.lines(row, width=15)] == [
        "name     number",
        "a-long-name",
        "              1",
        "都           22",
    ]
