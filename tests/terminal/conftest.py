"""Fixtures of the terminal: run the real command, and compare its screen with a capture.

    def test_list(terminal, captured, demo):
        screen = terminal("list", columns=60)            # a process in a pseudo-terminal
        captured(screen, "list-60")                      # tests/terminal/captures/list-60.txt

`terminal` runs `registry` in the current folder with an empty cache of its own and returns a
`Screen`: `code`, `lines` and `text` (the final screen), `raw` (with control codes), `frames` (the
screens on the way). Other variables are given as `environment={"NO_COLOR": "1"}`, and typed keys
as `keys="q"`. `piped` runs it without a terminal and returns the same.

`captured` also checks that nothing is wider than the terminal. Folders, durations and sizes are
masked. `WRITE_CAPTURES=1 pytest tests/terminal` writes the captures: look at them.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.cli.conftest import demo, own
from tests.command_line import install
from tests.terminal.screens import Screen, compare, masked, run_in_terminal

__all__ = ["Captured", "RunInTerminal", "demo", "own"]

RunInTerminal = Callable[..., Screen]
Captured = Callable[[Screen, str], None]


@pytest.fixture
def variables(tmp_path: Path) -> dict[str, str]:
    """Return the variables of commands: an empty cache, UTF-8, and nothing of this machine."""
    return {
        "REGISTRY_CACHE_DIR": str(tmp_path / "cache"),
        "LC_ALL": "C.UTF-8",
        "PYTHONWARNINGS": "ignore",
        "HOME": str(tmp_path),
    }


@pytest.fixture
def program(tmp_path: Path) -> str:
    """Write the command `registry`; it has what it imports already."""
    folder = tmp_path / "bin"
    folder.mkdir()
    install(folder)
    return str(folder / "registry")


@pytest.fixture
def terminal(program: str, variables: dict[str, str]) -> RunInTerminal:
    """Run the command line as a process in a pseudo-terminal."""
    pytest.importorskip("pyte", reason="pyte, which draws the screen, is not installed")

    def run(
        *arguments: str,
        columns: int = 80,
        rows: int = 2000,
        keys: str = "",
        environment: Mapping[str, str | None] | None = None,
    ) -> Screen:
        return run_in_terminal(
            [program, *arguments],
            folder=Path.cwd(),
            columns=columns,
            rows=rows,
            keys=keys,
            environment={**variables, **(environment or {})},
        )

    return run


@pytest.fixture
def piped(program: str, variables: dict[str, str]) -> RunInTerminal:
    """Run the command line as a process whose output is a pipe: stdout, then stderr."""

    def run(*arguments: str, environment: Mapping[str, str] | None = None) -> Screen:
        done = subprocess.run(
            [program, *arguments],
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, **variables, **(environment or {})},
            check=False,
        )
        text = done.stdout + done.stderr
        return Screen(done.returncode, 0, tuple(text.splitlines()), text, ())

    return run


@pytest.fixture
def captured(tmp_path: Path) -> Captured:
    """Compare a screen with the capture of a name, after checking its width."""

    def check(screen: Screen, name: str) -> None:
        if screen.columns:
            from registry.base.cells import cell_len

            assert max(map(cell_len, screen.lines)) <= screen.columns
        compare(masked(screen.text, {str(tmp_path): "TMP"}), name)

    return check
