"""`--help`: examples that can be copied at any width."""

from __future__ import annotations

import shlex

import click
import pytest
from click.testing import CliRunner

from registry.cli.help_text import with_help_text
from tests.cli.invocation import Run, verbs

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


@pytest.mark.parametrize(("width", "flag"), [(60, "--help"), (80, "-h")])
@pytest.mark.parametrize("words", ["", *verbs()])
def test_help_of_every_command_fits_and_has_an_example(
    run: Run, words: str, width: int, flag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    shown = run(*words.split(), flag)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith(f"Usage: registry {words}".rstrip())
    example = " ".join(shown.out.partition("Example: ")[2].split())
    assert f"registry {words}".strip() in example
    assert [line for line in shown.lines if len(line) > width] == []
