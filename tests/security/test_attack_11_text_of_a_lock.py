"""Locations in a lockfile reach no terminal and no CI as anything but text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.command_line import run
from tests.git_repository import write_files

DATASET = "{source: {type: csv, path: 'data/*.csv'}, fields: {input: q, target: a}}"
INDEX = f"version: 1\ndatasets: {{qa: {DATASET}}}\n"
PLANTED = r"\u001b]0;owned\u0007\n::error file=x::planted\r::add-mask::q\u202e"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_files(tmp_path, {"datasets.yaml": INDEX, "data/a.csv": "q,a\nOne?,1\n"})
    assert run(tmp_path, "lock").code == 0
    return tmp_path


EDITS = [
    ("location: data/a.csv", f'location: "data/{PLANTED}.csv"'),  # the glob matches it
    ("location: data/a.csv", f'location: "{PLANTED}"'),
    ("requested: data/*.csv", f'requested: "{PLANTED}"'),
    ("columns: [q, a]", f'columns: [q, "{PLANTED}"]'),
    ("samples: 1", f'samples: "{PLANTED}"'),
    ("  qa:", f'  "{PLANTED}":'),
    ("  qa:", f'  qa:\n    "{PLANTED}": 1'),
]


@pytest.mark.parametrize(("old", "new"), EDITS)
def test_planted_text_is_escaped_in_every_message(folder: Path, old: str, new: str) -> None:
    lock = folder / "datasets.lock"
    text = lock.read_text()
    assert old in text
    everything = ""
    for arguments in (["lock", "--check"], ["lock", "--check", "--json"], ["lock"]):
        lock.write_text(text.replace(old, new, 1))
        done = run(folder, *arguments)
        assert done.code in (0, 1), done
        everything += done.text
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", done.text), done
        assert not [line for line in done.text.splitlines() if line.lstrip().startswith("::")]
    assert "owned" in everything or "requested" in old
