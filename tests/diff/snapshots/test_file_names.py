"""Words and globs by which names of files are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.boundary.boundary import Boundary
from registry.diff.snapshots.file_names import matches, may_make_files, words_in


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"a": "img/1.png"}', {"1.png"}),
        (b'{"a": "img\\\\1.png"}', {"1.png"}),
        (b"1.png,other", {"1.png"}),
        (b"11.png x1.png", set()),
        ("é".encode(), set()),
        (b"\\u003c 1.png", {"1.png"}),
        (b'"\\u0031.png"', None),
        (b"1.png\0", None),
        (b"\xff", None),
    ],
)
def test_words_are_found_in_text(tmp_path: Path, data: bytes, words: set[str] | None) -> None:
    file = tmp_path / "d"
    file.write_bytes(data)
    boundary = Boundary().allowing([str(tmp_path)])
    assert words_in(str(file), boundary, {"1.png"}) == words
    assert words_in(str(file), Boundary(), {"1.png"}) is None


@pytest.mark.parametrize(
    ("path", "glob", "expected"),
    [
        ("s.sh", "*/s.sh/*", True),
        ("a/s.sh", "*/s.sh/*", True),
        ("s.sh/in", "*/s.sh/*", True),
        ("xs.sh", "*/s.sh/*", False),
        ("img/1.png", "*/img/*.png/*", True),
    ],
)
def test_glob_is_for_the_end_of_a_path_or_a_folder_in_it(
    path: str, glob: str, expected: bool
) -> None:
    assert matches(path, [glob]) is expected


def test_code_that_is_not_found_may_make_files() -> None:
    assert may_make_files([])
