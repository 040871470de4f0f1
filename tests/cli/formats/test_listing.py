"""Datasets as lines of a terminal, and as rows of a pipe."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from registry.cli.formats import listing
from registry.cli.formats.listing import Row, cells, terminal_lines

ROW = Row(
    name="qa",
    description="Questions.",
    tags=("small", "text"),
    samples=1200,
    bytes=4200,
    cached="yes",
    locked="no",
)
EMPTY = Row(
    name="a-name", description="", tags=(), samples=None, bytes=None, cached="?", locked="stale"
)


def lines(rows: list[Row], width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setattr(listing, "columns_of", lambda stream: width)
    return list(terminal_lines(rows, io.StringIO()))


def test_values_for_programs_are_complete_and_never_empty() -> None:
    assert cells(ROW) == ("qa", "1200", "4200", "yes", "no", "small,text", "Questions.")
    assert cells(EMPTY) == ("a-name", "-", "-", "?", "stale", "-", "-")


def test_description_is_beside_the_values_or_below_them(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lines([ROW, EMPTY], 100, monkeypatch) == [
        "dataset  samples    size  cached  locked  description",
        "qa         1,200  4.2 kB  yes     -       Questions. #small #text",
        "a-name                    ?       stale",
    ]
    assert lines([ROW, EMPTY], 60, monkeypatch) == [
        "dataset  samples    size  cached  locked",
        "qa         1,200  4.2 kB  yes     -",
        "  Questions. #small #text",
        "a-name                    ?       stale",
    ]


@settings(deadline=None)
@given(
    st.lists(
        st.builds(
            Row,
            name=st.text("ab-都", min_size=1, max_size=90),
            description=st.text("ab 都\x1b[", max_size=90),
            tags=st.tuples(st.text("xy", min_size=1)),
            samples=st.none() | st.integers(0, 10**9),
            bytes=st.none() | st.integers(0, 10**15),
            cached=st.sampled_from(["yes", "no", "?"]),
            locked=st.sampled_from(["yes", "no", "stale"]),
        ),
        min_size=1,
        max_size=4,
    ),
    st.integers(50, 160),
)
def test_nothing_is_wider_than_the_terminal(rows: list[Row], width: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        made = lines(rows, width, patch)
    assert max(map(cell_len, made)) <= width
    assert "\x1b" not in "".join(made)
