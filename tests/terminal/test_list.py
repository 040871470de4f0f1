"""`list` on terminals of any width, and in the pager."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from registry.cli import main
from tests.terminal.conftest import Captured, RunInTerminal

LONG = """\
datasets:
  a-dataset-with-an-unusually-long-name-of-more-than-sixty-columns:
    description: Questions about 都市と国 whose answers are [bold]names[/bold], and nothing else that matters.
    license: mit
    tags: [geography, wide-characters]
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: a}
"""


@pytest.fixture
def filled(own: Path, variables: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a catalog of which one dataset is cached and one is locked."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert main(["sync", "qa-one"]) == 0
    assert main(["lock", "qa"]) == 0
    (own / "m" / "long.yaml").write_text(LONG, encoding="utf-8")
    return own


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_list_fits_the_terminal(
    terminal: RunInTerminal, captured: Captured, filled: Path, columns: int
) -> None:
    captured(terminal("list", columns=columns), f"list-{columns}")


def test_list_in_a_pipe_has_one_line_for_each_dataset(
    piped: RunInTerminal, captured: Captured, filled: Path
) -> None:
    screen = piped("list", "--sort", "size")
    captured(screen, "list-piped")
    assert [" datasets: " in line for line in screen.lines] == [False] * 4 + [True]


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_no_control_code_is_written_where_none_is_wanted(
    terminal: RunInTerminal, captured: Captured, filled: Path, environment: dict[str, str]
) -> None:
    screen = terminal("list", environment=environment)
    assert screen.codes == []
    captured(screen, "list-80")


def test_long_list_is_shown_in_the_pager(terminal: RunInTerminal, filled: Path) -> None:
    pager = {"PAGER": "tr a-z A-Z"}
    assert "DATASET" in terminal("list", rows=5, environment=pager).text
    assert "DATASET" not in terminal("list", rows=50, environment=pager).text


@pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")
def test_less_shows_styles_and_not_their_codes(terminal: RunInTerminal, filled: Path) -> None:
    screen = terminal("list", rows=5, keys="q", environment={"LESS": None})
    assert "\x1b[1mdataset" in screen.raw
    assert "\x1b[33mfloating\x1b[0m" in screen.raw
    assert "ESC[" not in screen.raw
