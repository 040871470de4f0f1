"""`show` on terminals of any width."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.invocation import write
from tests.terminal.conftest import Captured, RunInTerminal

INDEX = """\
version: 1
include: [m/*.yaml]
defaults: {license: mit, source: {csv: {encoding: latin-1}}}
"""
CHILD = """\
datasets:
  child:
    extends: qa
    description: A part of qa, with a description that is longer than the terminal is wide.
    homepage: https://example.com/a/page/with/a/long/path/that/fills/most/of/the/line
    fields: {id: {hash: [q, a], prefix: qa, length: 8}}
    limit: 2
"""


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_values_of_other_files_are_marked(
    terminal: RunInTerminal, captured: Captured, own: Path, columns: int
) -> None:
    (own / "datasets.yaml").write_text(INDEX, encoding="utf-8")
    write(own, "child", CHILD)
    screen = terminal("show", "child", columns=columns)
    assert screen.code == 0
    # The length of the folder of a test differs, and so where its lines end.
    text = re.sub(
        r"(\n +path:[^\n]*)\n.*?(\n +encoding:)", r"\1\2", "\n".join(screen.lines), flags=re.DOTALL
    )
    captured(screen.with_text(text), f"show-{columns}")
