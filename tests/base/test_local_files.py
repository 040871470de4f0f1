"""The files of a local path: itself, those of a folder, or those of a glob."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from registry.base.local_files import local_files

NAMES = ["a.csv", "b.csv", "sub/c.csv", "sub/.kept.csv", ".DS_Store", ".git/HEAD", "[x].csv"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "data"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("a.csv", ["a.csv"]),
        (".DS_Store", [".DS_Store"]),
        ("", ["[x].csv", "a.csv", "b.csv", "sub/.kept.csv", "sub/c.csv"]),
        ("sub", ["sub/c.csv"]),
        ("*.csv", ["[x].csv", "a.csv", "b.csv"]),
        ("**/*.csv", ["[x].csv", "a.csv", "b.csv", "sub/c.csv"]),
        ("*", ["[x].csv", "a.csv", "b.csv"]),
        ("[x].csv", ["[x].csv"]),
        ("[ab].csv", ["a.csv", "b.csv"]),
        ("none.csv", []),
    ],
)
def test_files_of_a_local_path(folder: Path, pattern: str, expected: list[str]) -> None:
    found = local_files(os.path.join(folder, pattern) if pattern else str(folder))
    assert [os.path.relpath(path, folder) for path in found] == expected
