"""`--help`: examples that can be copied at any width."""

from __future__ import annotations

import shlex

import click
import pytest
from click.testing import CliRunner

from registry.cli import command, main
from registry.cli.help_text import with_help_text

EPILOG = """\b
Example: registry verb some/long/path.csv --option value --other 'a quoted value' --last
SETTING=on registry verb another/long/path.csv --option value --to the-end-of-this-line

\b
A remark that is so long that no narrow terminal has room for all the words of it:
  key: value  # which stays
"""


@pytest.fixture
def verb() -> click.Command:
    @click.command("verb", epilog=EPILOG)
    def verb() -> None:
        """Do something."""

    return with_help_text(verb)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_folded_commands_are_the_same_commands(verb: click.Command, width: int) -> None:
    result = CliRunner().invoke(verb, ["--help"], terminal_width=width, max_content_width=width)
    assert max(map(len, result.output.splitlines())) <= width
    text = result.output.replace("\\\n", " ")
    for line in EPILOG.splitlines()[1:3]:
        words = shlex.split(line.removeprefix("Example: "))
        assert any(
            shlex.split(one.replace("Example:", "")) == words
            for one in text.splitlines()
            if "registry" in one
        )
    assert "    key: value  # which stays" in result.output.splitlines()


def all_commands() -> list[list[str]]:
    found = []
    with click.Context(command) as context:
        for name in command.list_commands(context):
            one = command.get_command(context, name)
            found.append([name])
            if isinstance(one, click.Group):
                found += [[name, inner] for inner in one.list_commands(context)]
    return found


@pytest.mark.parametrize("width", [60, 80])
def test_help_of_every_command_fits(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    for names in all_commands():
        assert main([*names, "--help"]) == 0
        out = capsys.readouterr().out
        wide = [line for line in out.splitlines() if len(line) > width]
        assert wide == [], names
