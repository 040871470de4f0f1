"""What reaches stdout and stderr: escaped, styled where that is shown, and in their width."""

from __future__ import annotations

import io
import subprocess
import sys

import click
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.base.cells import cell_len
from registry.base.escape import escape_lines
from registry.cli.terminal import (
    Columns,
    EscapingStream,
    can_draw,
    columns_of,
    escaped_output,
    is_styled,
    page,
    paint,
    plot_lines,
    print_styled,
    unescaped,
    wrap,
)
from registry.plots import Bar, Plot
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


BAD = "\x1b[2J\n::error::x"
GOOD = "\\u{1b}[2J\n\\u{3a}:error::x\n"


def test_whatever_prints_is_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    with escaped_output():
        sys.stdout.write(f"{BAD}\n")
        sys.stderr.write(f"{BAD}\n")
        click.echo(BAD, color=True)
        click.echo(BAD, err=True, color=True)
    assert capsys.readouterr() == (2 * GOOD, 2 * GOOD)


def test_warnings_and_logs_of_libraries_are_escaped() -> None:
    code = (
        "import logging, warnings\n"
        "from registry.cli.terminal import escaped_output\n"
        "with escaped_output():\n"
        f"    warnings.warn({BAD!r})\n"
        f"    logging.getLogger('x').warning({BAD!r})\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert done.stderr.count(GOOD) == 2


@given(st.lists(st.sampled_from(["::", ":", "error", " ", "\t", "\n", "x", "##", "[", "\r"])))
def test_a_line_may_be_written_in_parts(parts: list[str]) -> None:
    below = io.StringIO(newline="")
    stream = EscapingStream(below)
    for part in parts:
        stream.write(part)
    stream.flush()
    assert below.getvalue() == escape_lines("".join(parts))


@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ((" ", "::error::x"), " \\u{3a}:error::x"),
        (("Remove? ", "::x"), "Remove? ::x"),
        (("Remove? ", " ", "::x\n", "::y"), "Remove?  ::x\n\\u{3a}:y"),
    ],
    ids=repr,
)
def test_a_flushed_part_is_remembered(parts: tuple[str, ...], text: str) -> None:
    below = io.StringIO()
    stream = EscapingStream(below)
    for part in parts:
        stream.write(part)
        stream.flush()
    assert below.getvalue() == text


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_what_the_encoding_lacks_is_escaped(errors: str, monkeypatch: pytest.MonkeyPatch) -> None:
    below = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors=errors)
    monkeypatch.setattr(sys, "stdout", below)
    with escaped_output():
        sys.stdout.write("✓\n")
    below.seek(0)
    assert below.read() == "\\u2713\n"


def test_own_text_may_pass(capsys: pytest.CaptureFixture[str]) -> None:
    with escaped_output():
        sys.stdout.write("before ")
        unescaped(sys.stdout).write("\x1b[1m\n")
    assert capsys.readouterr().out == "before \x1b[1m\n"


def test_streams_are_restored() -> None:
    before = sys.stdout, sys.stderr
    with pytest.raises(ZeroDivisionError), escaped_output():
        raise ZeroDivisionError
    assert (sys.stdout, sys.stderr) == before
    assert unescaped(sys.stdout) is sys.stdout


def test_the_stream_below_is_described_and_stays_open() -> None:
    below = io.TextIOWrapper(io.BytesIO(), encoding="latin-1", errors="replace")
    stream = EscapingStream(below)
    assert (stream.encoding, stream.errors, stream.isatty()) == ("latin-1", "replace", False)
    stream.close()
    assert not below.closed


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
