"""A plot as text fits the terminal and its encoding."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from registry.plots.labels import cell_width
from registry.plots.plot import Bar, Plot, histogram
from registry.plots.text import plain_lines, text_lines

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


def test_bars_stand_behind_label_and_count() -> None:
    assert text_lines(PLOT, width=44, ascii_only=False) == [
        "Targets",
        "  A               1,000    █████████████████",
        "  (blank)           500 *  ████████▌",
        "  a long label,…      1    ▏",
        "  none                0",
        "  12 more, 34 in total",
    ]


def test_ascii_has_no_other_characters() -> None:
    lines = text_lines(PLOT, width=44, ascii_only=True)
    assert all(line.isascii() for line in lines)
    assert lines[1] == "  A               1,000    #################"
    assert lines[3].endswith("  #")
    ranges = text_lines(histogram("Größe", [*range(100), 10**6]), width=40, ascii_only=True)
    assert any(line.startswith("  90-99   10    ######") for line in ranges)
    assert ranges[0] == "Gr\\xf6\\xdfe"
    assert any(line.startswith("  >= 100") for line in ranges)


def test_narrow_terminals_get_numbers_without_bars() -> None:
    assert text_lines(PLOT, width=20, ascii_only=False)[1] == "  A       1,000"


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
    plot = Plot(title="A title of several words", bars=bars, note="a note " * 20)
    assert max(map(cell_width, text_lines(plot, width=width, ascii_only=ascii_only))) <= width


def test_sentences_for_screen_readers_have_no_columns() -> None:
    assert plain_lines(PLOT, ascii_only=False)[:3] == [
        "Targets, 12 more, 34 in total",
        "A: 1,000",
        "(blank): 500",
    ]
