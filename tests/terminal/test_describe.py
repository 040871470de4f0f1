"""`describe`, `stats` and `preview` on terminals of several widths, and without colors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.terminal.conftest import Captured, RunInTerminal

COMMANDS = {
    "describe": ("describe", "demo-mcq"),
    "stats": ("stats",),
    "preview": ("preview", "demo-mcq", "--id", "demo-007", "--raw"),
}


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("describe", 60),
        ("describe", 80),
        ("describe", 200),
        ("stats", 80),
        ("preview", 60),
        ("preview", 200),
    ],
)
def test_output_fits_the_terminal(
    terminal: RunInTerminal, captured: Captured, demo: Path, name: str, columns: int
) -> None:
    captured(terminal(*COMMANDS[name], columns=columns), f"{name}-{columns}")


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}], ids=str)
def test_plots_need_no_style(
    terminal: RunInTerminal, demo: Path, environment: dict[str, str]
) -> None:
    screen = terminal("describe", "demo-mcq", environment=environment)
    assert "\x1b[1m" not in screen.raw
    assert any("████" in line for line in screen.lines)


def test_screen_readers_get_words_and_numbers(
    piped: RunInTerminal, captured: Captured, demo: Path
) -> None:
    captured(piped("describe", "demo-mcq", "--plain"), "describe-plain")


def test_report_of_the_doctor_fits_the_terminal(terminal: RunInTerminal, demo: Path) -> None:
    screen = terminal("doctor", "--offline", columns=60)
    assert screen.code == 0
    assert max(map(len, screen.lines)) <= 60
    assert any("next: registry lock" in line for line in screen.lines)
