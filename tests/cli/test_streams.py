"""What is printed, by whomever and in however many parts, controls no terminal and no CI."""

from __future__ import annotations

import io
import subprocess
import sys

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.base.escape import escape_lines
from registry.cli.streams import EscapingStream, escaped_output, unescaped

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
        "from registry.cli.streams import escaped_output\n"
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
