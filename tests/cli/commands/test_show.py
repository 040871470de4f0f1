"""`show --origin`: every resolved value with file, line and layer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.cli import main

INDEX = "version: 1\ninclude: [m.yaml]\ndefaults:\n  on_duplicate: drop\n"
MANIFEST = """\
datasets:
  qa:
    source: {type: csv, path: qa.csv}
    fields:
      input: q
  qa-one:
    extends: qa
    description: "One \\e[31m\\u202equestion."
    limit: 1
"""
DIGITS = "0123456789abcdef" * 4
LOCK = f"""\
version: 1
datasets:
  qa-one:
    spec: sha256:{DIGITS}
    sources:
      - location: qa.csv
        size: 3
        sha256: {DIGITS}
    samples: 3
    columns: [q]
    ordered: sha256:{DIGITS}
    unordered: sha256:{DIGITS}
    format: 1
"""

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    files = {
        "datasets.yaml": INDEX,
        "m.yaml": MANIFEST,
        "datasets.lock": LOCK,
        "qa.csv": "q\nOne?\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str]:
        code = main(list(arguments))
        out, err = capsys.readouterr()
        assert err == ""
        return code, out

    return call


TOLD = {
    "description": ("own", "m.yaml:8"),
    "source.type": ("parent qa", "m.yaml:3"),
    "fields.input": ("parent qa", "m.yaml:5"),
    "fields.target": ("default", "built in"),
    "on_duplicate": ("default", "datasets.yaml:4"),
    "limit": ("own", "m.yaml:9"),
    "shuffle": ("default", "built in"),
    "pin.sources[0].location": ("lock", "datasets.lock:6"),
    "pin.sources[0].sha256": ("lock", "datasets.lock:8"),
    "pin.samples": ("lock", "datasets.lock:9"),
}


@pytest.mark.parametrize("key", TOLD)
def test_a_row_says_layer_and_place(run: Run, key: str) -> None:
    code, out = run("show", "qa-one", "--origin")
    (line,) = [line for line in out.splitlines() if line.split()[0] == key]
    layer, place = TOLD[key]
    assert code == 0
    assert line.endswith(f"  {place}")
    assert f"  {layer}  " in line.replace(place, f"  {place}")


def test_values_do_not_steer_the_terminal(run: Run) -> None:
    out = run("show", "qa-one", "--origin")[1]
    assert "One \\u{1b}[31m\\u{202e}question." in out
    assert "0123456789ab…" in out
    assert not {"\x1b", "\u202e"} & set(out)


def test_json_has_exact_values(run: Run) -> None:
    found = {one["key"]: one for one in json.loads(run("show", "qa-one", "--origin", "--json")[1])}
    assert found["limit"] == {
        "key": "limit",
        "value": 1,
        "layer": "own",
        "file": "m.yaml",
        "line": 9,
        "dataset": "qa-one",
    }
    assert found["description"]["value"] == "One \x1b[31m\u202equestion."
    assert found["pin.samples"]["file"] == "datasets.lock"
    assert set(TOLD) <= set(found)
