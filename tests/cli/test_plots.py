"""Plots are drawn with what the encoding of the stream has."""

from __future__ import annotations

import io

import pytest

from registry.cli.plots import can_draw, plot_lines
from registry.plots import Bar, Plot

PLOT = Plot(title="Targets", bars=(Bar(label="A", count=2),), note="≥ 1 more")


def stream(encoding: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="backslashreplace")


@pytest.mark.parametrize(
    ("encoding", "drawn"), [("utf-8", True), ("ascii", False), ("latin-1", False), ("cp437", False)]
)
def test_blocks_are_for_encodings_that_have_them(encoding: str, drawn: bool) -> None:
    assert can_draw(stream(encoding)) == drawn


def test_a_pipe_gets_bars_of_80_columns_in_what_its_encoding_has() -> None:
    lines = list(plot_lines([PLOT], stream("utf-8"), plain=False))
    assert (lines[:2], lines[2][-1], len(lines[2])) == (["", "Targets"], "█", 80)
    _, _, bar, note = plot_lines([PLOT], stream("ascii"), plain=False)
    assert (bar[-3:], note) == ("###", "  >= 1 more")
    plain = list(plot_lines([PLOT], stream("ascii"), plain=True))
    assert plain == ["", "Targets, >= 1 more", "A: 2"]
