"""Submodules that are not checked out, and which globs may read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.diff.git.submodules import may_contain, missing_submodules
from tests.git_repository import GitRepository


def test_only_submodules_that_are_not_checked_out_are_missing(tmp_path: Path) -> None:
    inner = GitRepository.make(tmp_path / "inner", {"a.yaml": "a: 1"})
    outer = GitRepository.make(tmp_path / "outer", {"b.yaml": "b: 1"})
    assert missing_submodules(outer.folder) == {}
    for path in ("sub/one", "two"):
        add = ("submodule", "add", "--quiet", str(inner.folder), path)
        outer.git("-c", "protocol.file.allow=always", *add)
    outer.commit()
    outer.git("submodule", "deinit", "--quiet", "two")
    assert missing_submodules(outer.folder) == {"two": inner.git("rev-parse", "HEAD")}


def test_folder_without_git_has_no_submodules(tmp_path: Path) -> None:
    (tmp_path / ".gitmodules").write_text("[submodule]")
    assert missing_submodules(tmp_path) == {}


@pytest.mark.parametrize(
    ("pattern", "contains"),
    [
        ("sub/m/*.yaml", True),
        ("s*/m/a.yaml", True),
        ("**/*.yaml", True),
        ("sub", True),
        (".", True),
        ("other/*.yaml", False),
        ("sub2/*.yaml", False),
        ("../sub/*.yaml", False),
    ],
)
def test_pattern_may_name_files_of_a_submodule(pattern: str, contains: bool) -> None:
    assert may_contain("sub/m", pattern) == contains
