"""The page on history shows the actual output of the commands."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from registry.cli import main
from tests.git_repository import HERMETIC

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "history.md").read_text(encoding="utf-8")
ANN = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in {
        "NAME": "Ann",
        "EMAIL": "ann@example.org",
        "DATE": "2026-03-01T12:00:00Z",
    }.items()
}


def test_example_matches_the_command_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "example"
    folder.mkdir()
    (script,) = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    subprocess.run(
        ["bash", "-e", "-c", script], cwd=folder, env={**os.environ, **HERMETIC, **ANN}, check=True
    )
    monkeypatch.chdir(folder)
    commands = re.findall(
        r"^    registry ([^\n]*)\n\n```text\n(.*?)```", PAGE, re.DOTALL | re.MULTILINE
    )
    assert [command.split()[0] for command, _ in commands] == ["log", "blame"]
    for command, expected in commands:
        assert main(command.split()) == 0
        assert capsys.readouterr().out == expected
