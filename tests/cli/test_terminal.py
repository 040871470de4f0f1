"""What is known of a terminal, and text that fits it."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.cells import cell_len
from registry.cli.terminal import (
    Columns,
    columns_of,
    is_styled,
    page,
    paint,
    print_styled,
    wrap,
)
from tests.cli.invocation import TerminalStream

ROWS = [("name", "number"), ("a-long-name", "1"), ("都", "22")]


@pytest.mark.parametrize(
    ("stream", "name", "value", "styled"),
    [
        (TerminalStream(), "TERM", "xterm", True),
        (TerminalStream(), "NO_COLOR", "1", False),
        (TerminalStream(), "NO_COLOR", "", True),
        (TerminalStream(), "TERM", "dumb", False),
        (io.StringIO(), "TERM", "xterm", False),
    ],
)
def test_styles_are_for_terminals_that_take_them(
    monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, name: str, value: str, *, styled: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    assert is_styled(stream) is styled
    assert paint("x", stream, bold=True) == ("\x1b[1mx\x1b[0m" if styled else "x")
    assert paint("", stream, bold=True) == ""


def test_width_is_that_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "33")
    assert (columns_of(TerminalStream()), columns_of(io.StringIO(), 70)) == (33, 70)


def test_page_is_printed_where_nobody_could_turn_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGER", "false")
    page("line\n" * 5000)
    assert capsys.readouterr().out == "line\n" * 5000


def test_text_without_styles_is_printed_as_any_other(capsys: pytest.CaptureFixture[str]) -> None:
    print_styled(paint("text", sys.stdout, bold=True), sys.stdout)
    assert capsys.readouterr().out == "text\n"


def test_text_is_wrapped_between_words_by_the_width_of_characters() -> None:
    assert wrap("one two three", 8) == ["one two", "three"]
    assert wrap("都市 と 国", 5) == ["都市", "と 国"]
    assert wrap("", 5) == [""]


@settings(deadline=None)
@given(st.text(alphabet="ab 都国\t\n", max_size=60), st.integers(2, 12))
def test_no_line_is_wider_and_no_word_that_fits_is_broken(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert max(map(cell_len, lines)) <= width
    words = [word for line in lines for word in line.split()]
    assert {word for word in text.split() if cell_len(word) <= width} <= set(words)
    assert "".join(words) == "".join(text.split())


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
