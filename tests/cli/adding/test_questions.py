"""Questions at a terminal."""

from __future__ import annotations

import io
import sys

import click
import pytest

from registry.cli.adding.questions import ask, ask_about, ask_what_next, is_interactive
from registry.scaffold.sniff.guess import Question


def answer(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))


def test_reading_is_chosen_by_its_number(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    answer(monkeypatch, "3", "x", "2")
    question = Question("q\x1b.csv", "delimiter", {"--delimiter ,": "a", "--delimiter ;": "b"})
    assert ask(question) == "--delimiter ;"
    out = capsys.readouterr().out
    assert "  2. --delimiter ;: b\n" in out
    assert "\x1b" not in out


@pytest.mark.parametrize("line", ["", "y", "Yes"])
def test_yes_writes(monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    answer(monkeypatch, line)
    assert ask_what_next(["a", "b"]) is None


def test_no_aborts(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, "n")
    with pytest.raises(click.Abort):
        ask_what_next(["a", "b"])


def test_field_and_column_are_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, "what", "target", "zzz", "b")
    assert ask_what_next(["a", "b"]) == ("target", "b")


@pytest.mark.parametrize(
    ("lines", "license_", "expected"),
    [
        (["", ""], None, ("3 records.", None)),
        (["Mine.", "mit"], None, ("Mine.", "mit")),
        (["Mine."], "cc0-1.0", ("Mine.", "cc0-1.0")),
    ],
)
def test_description_and_license_are_asked(
    monkeypatch: pytest.MonkeyPatch,
    lines: list[str],
    license_: str | None,
    expected: tuple[str, str | None],
) -> None:
    answer(monkeypatch, *lines)
    assert ask_about("3 records.", license_) == expected


def test_pipe_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch)
    assert not is_interactive()
