"""Shared by tests of the command line: the result of an invocation, and a small catalog."""

from __future__ import annotations

import functools
import io
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import click
import pytest
from click import unstyle

from registry.base.cells import cell_len
from registry.cli import command

__all__ = [
    "BAD_KEY",
    "CONTEXT",
    "HUB",
    "INDEX",
    "MISSING_FILE",
    "QA",
    "SYNTAX",
    "THEIRS",
    "Invocation",
    "Run",
    "Terminal",
    "TerminalStream",
    "on_terminal",
    "verbs",
    "write",
]


@dataclass(frozen=True)
class Invocation:
    """The exit code and the output of an invocation."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()

    @property
    def errors(self) -> list[str]:
        return self.err.splitlines()

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def _placed(line: str) -> str:
    """Return a line with spaces in place of the codes that go to a column."""
    text, *places = re.split(r"\x1b\[(\d+)G", line)
    for column, rest in zip(places[::2], places[1::2], strict=True):
        text += " " * (int(column) - 1 - cell_len(unstyle(text))) + rest
    return text


class TerminalStream(io.StringIO):
    """A stream that looks like a terminal."""

    def isatty(self) -> bool:
        return True


class Terminal:
    """The captured stdout, as a terminal."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return sys.stdout.write(unstyle("\n".join(map(_placed, text.split("\n")))))

    def flush(self) -> None:
        sys.stdout.flush()


def on_terminal(
    patch: pytest.MonkeyPatch, module: ModuleType, columns: int, *, stdout: Any = None
) -> None:
    """Let a module print to a terminal of a width; the output is captured as usual."""
    patch.setattr(module, "sys", SimpleNamespace(stdout=stdout or Terminal()))
    patch.setenv("COLUMNS", str(columns))
    patch.setenv("TERM", "xterm")
    patch.delenv("NO_COLOR", raising=False)


# With the settings of the real one, as a verb remembers its help option from its first context.
CONTEXT = click.Context(command, **command.context_settings)


@functools.cache
def verbs() -> dict[str, click.Command]:
    """Return every command by its words, those of a group too."""
    found = {}
    for name in command.list_commands(CONTEXT):
        verb = command.get_command(CONTEXT, name)
        assert verb is not None
        found[name] = verb
        if isinstance(verb, click.Group):
            found |= {f"{name} {inner}": one for inner, one in verb.commands.items()}
    return found


Run = Callable[..., Invocation]
"""Runs the command line in this process."""

INDEX = "version: 1\ninclude: [m/*.yaml]\ntrust: ['os:getcwd', 'os:nothing']\nvalidate: {ignore: [description]}\n"
QA = """\
datasets:
  qa:
    description: Questions.
    tags: [small, text]
    source: {type: csv, path: qa.csv}
    fields: {input: q, target: a}
  qa-one: {extends: qa, limit: 1, tags: [small]}
"""
THEIRS = """\
datasets:
  theirs:
    description: Questions of a package.
    source: {type: csv, path: theirs.csv}
    fields: {input: q, target: a}
  theirs-apart: {extends: theirs, source: {encoding: latin-1}}
"""
"""A manifest of the package `shipped_sets`."""
MISSING_FILE = "datasets:\n  gone: {tags: [small], source: {type: csv, path: gone.csv}}\n"
BAD_KEY = "datasets:\n  bad: {tags: [small], source: {type: csv, path: qa.csv}, bogus: 1}\n"
SYNTAX = "datasets: [\n"
HUB = "datasets:\n  hub: {source: {type: hf, path: org/name, split: test}}\n"


def write(folder: Path, name: str, text: str) -> None:
    """Write a manifest of the small catalog."""
    (folder / "m" / f"{name}.yaml").write_text(text, encoding="utf-8")
