"""The files of a local path: a file, a folder without hidden entries, or a glob."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.base.local_files import local_files


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.csv", "a.csv", "x.json", "sub/c.csv", "sub/.d", ".DS_Store", ".git/HEAD"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    return tmp_path


@pytest.mark.parametrize(
    ("path", "files"),
    [
        ("a.csv", ["a.csv"]),
        (".DS_Store", [".DS_Store"]),
        ("", ["a.csv", "b.csv", "sub/.d", "sub/c.csv", "x.json"]),
        ("sub", ["sub/c.csv"]),
        ("*.csv", ["a.csv", "b.csv"]),
        ("**/*.csv", ["a.csv", "b.csv", "sub/c.csv"]),
        ("*", ["a.csv", "b.csv", "x.json"]),
        ("missing", []),
        ("missing/*.csv", []),
    ],
)
def test_files_of_a_local_path_are_sorted(folder: Path, path: str, files: list[str]) -> None:
    found = local_files(str(folder / path) if path else str(folder))
    assert [Path(one).relative_to(folder).as_posix() for one in found] == files


def test_a_file_whose_name_looks_like_a_glob_is_that_file(folder: Path) -> None:
    (folder / "[ab].csv").write_bytes(b"")
    assert local_files(str(folder / "[ab].csv")) == [str(folder / "[ab].csv")]
