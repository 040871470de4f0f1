"""`validate` on terminals of any width: excerpts, carets, several problems of a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.conftest import Captured, RunInTerminal

INDEX = "version: 1\ninclude: [m/*.yaml, n/*.yaml]\nhosts: 3\n"
MANIFEST = """\
datasets:
  qa:
    descripton: Questions.
    license: mit
    source: {type: csv, path: qa.csv, encodin: utf-8, 都市: [1, 2], delimeter: ";"}
    fields:
      input: q
      target:	a
    limit: many
  hidden:
    license: mit
    description: Has a password.
    source: {type: csv, path: "https://user:planted@example.com/x.csv", bogus: 1}
"""
LONG = (
    "datasets:\n  wide:\n    source: {type: csv, columns: {"
    + ", ".join(f"column{number}: c{number}" for number in range(30))
    + "}, path: qa.csv, bogus: 1, fieldnames: [a]}\n"
)
FILES = {
    "datasets.yaml": INDEX,
    "m/a.yaml": MANIFEST,
    "m/b.yaml": LONG,
    "m/c.yaml": "datasets: [\n",
}


@pytest.fixture(autouse=True)
def broken(own: Path) -> None:
    (own / "m" / "qa.yaml").unlink()
    for name, text in FILES.items():
        (own / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_problems_are_shown_in_their_lines(
    terminal: RunInTerminal, captured: Captured, columns: int
) -> None:
    screen = terminal("validate", columns=columns)
    assert screen.code == 1
    assert "planted" not in screen.raw
    captured(screen, f"validate-{columns}")
    assert screen.codes  # colors


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_plain_terminal_gets_the_same_without_colors(
    terminal: RunInTerminal, captured: Captured, environment: dict[str, str]
) -> None:
    screen = terminal("validate", environment=environment)
    assert screen.codes == []
    captured(screen, "validate-80")


def test_pipe_gets_a_line_for_each_problem(piped: RunInTerminal, captured: Captured) -> None:
    captured(piped("validate"), "validate-piped")


def test_formats_can_be_chosen(terminal: RunInTerminal, piped: RunInTerminal) -> None:
    concise = terminal("validate", "--format", "concise", columns=400)
    assert list(concise.lines) == list(piped("validate").lines)
    full = terminal("validate", "--format", "full", columns=100, environment={"NO_COLOR": "1"})
    assert list(full.lines) == list(piped("validate", "--format", "full").lines)
