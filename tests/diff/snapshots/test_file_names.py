"""Words and globs by which names of files are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.boundary.boundary import Boundary
from registry.diff.snapshots.file_names import matches, words_in, words_of_code


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


@pytest.mark.parametrize(
    ("code", "word"),
    [
        ("Sample(input=x)", None),
        ("Sample(sandbox=('docker', 'c.yaml'))", "c.yaml"),
        ("f(**x)", "x"),
    ],
)
def test_code_without_a_word_for_files_names_none(
    tmp_path: Path, code: str, word: str | None
) -> None:
    file = tmp_path / "m.py"
    file.write_text(code, encoding="utf-8")
    words = words_of_code([file])
    assert (words is None) if word is None else (words is not None and word in words)


def test_nothing_is_known_of_code_that_is_not_found() -> None:
    assert words_of_code([]) == frozenset()
