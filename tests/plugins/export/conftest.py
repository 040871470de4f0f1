"""A catalog with samples of every kind of field, and a way to open one for an export."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.load.call import OpenCatalog
from registry.plugins.export.exported import Exported, open_exported
from registry.settings import Settings

CATALOG = """
version: 1
datasets:
  mixed:
    description: Samples of every kind.
    homepage: https://example.org/mixed
    license: mit
    accept: [blank_targets]
    source: {type: json, path: mixed.jsonl}
    fields:
      input: input
      target: target
      choices: choices
      id: id
      metadata: {kind: kind, more: more}
      sandbox: sandbox
      files: files
      setup: setup
  few: {extends: mixed, shuffle: true, seed: 7, limit: 2}
  chat:
    license: cc0-1.0
    source: {type: json, path: chat.jsonl}
    fields: {input: messages, target: answer, id: {row_number: 1}}
  mcq:
    source: {type: csv, path: mcq.csv}
    fields: {input: q, choices: [a, b], target: {from: answer, do: [letter]}}
    shuffle_choices: 3
"""
MIXED = [
    {"input": "Né?", "target": "x", "id": 1, "kind": "a", "more": {"n": [1, None]}},
    {"input": "B", "target": ["y", "z"], "id": 2, "kind": None, "more": [0.5]},
    {"input": 'C,\n"c"', "target": "", "id": 3, "sandbox": "docker", "files": {"a.txt": "text"}},
    {"input": "D", "target": "A", "id": 4, "choices": ["p", "q"], "setup": "run"},
]
CHAT = [
    {
        "messages": [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}],
        "answer": "1",
    },
    {"messages": [{"role": "user", "content": [{"type": "text", "text": "T"}]}], "answer": "2"},
]
KEYS = ("target", "choices", "kind", "more", "sandbox", "files", "setup")


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write the catalog, go to its folder and return it."""
    rows = [{**dict.fromkeys(KEYS), **row} for row in MIXED]
    (tmp_path / "datasets.yaml").write_text(CATALOG, encoding="utf-8")
    (tmp_path / "mixed.jsonl").write_text(lines_of(rows), encoding="utf-8")
    (tmp_path / "chat.jsonl").write_text(lines_of(CHAT), encoding="utf-8")
    (tmp_path / "mcq.csv").write_text("q,a,b,answer\nOne?,1,2,0\nTwo?,3,2,1\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines_of(rows: list[dict[str, Any]]) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


Opener = Callable[..., Exported]


@pytest.fixture
def opened(catalog: Path) -> Opener:
    """Open a dataset of the catalog for an export."""

    def call(name: str, **overrides: Any) -> Exported:
        opened = OpenCatalog.of(Settings.from_environment())
        return open_exported(opened.call_of(name, overrides))

    return call
