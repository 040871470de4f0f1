"""Indexes below the catalog are reported, unless a comment in them, or the index, says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.catalog.catalog import Catalog
from registry.lint.runner import check

IGNORED = "# registry: ignore nested-index -- a fixture\n\n"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "datasets.yaml")
    return tmp_path


def write(root: Path, name: str, text: str = "version: 1\n") -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


def problems(*, ignore: tuple[str, ...] = ()) -> list[tuple[str, int, str]]:
    return [(one.file, one.line, one.rule) for one in check(Catalog.open(), ignore=ignore)]


@pytest.mark.parametrize("text", ["version: 1\n", "\n\nversion: 1\n", "]", ""])
def test_nested_index_is_reported_at_its_version(root: Path, text: str) -> None:
    write(root, "a/b/datasets.yaml", text)
    line = 1 + text.count("\n\n") * 2
    assert problems() == [("a/b/datasets.yaml", line, "nested-index")]
    assert problems(ignore=("nested-index",)) == []


def test_comment_in_the_nested_index_ignores_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "# registry: ignore unpinned-revision -- about its own datasets\n"
    write(root, "a/datasets.yaml", f"{IGNORED}version: 1\n{other}")
    assert problems() == []
    monkeypatch.chdir(root / "a")
    # There the comment is about what the catalog above reports; the other one has no use.
    assert [rule for _, _, rule in problems()] == ["unused-ignore"]


@pytest.mark.parametrize(
    "name", [".venv/datasets.yaml", "node_modules/x/datasets.yaml", "venv/lib/x/datasets.yaml"]
)
def test_folders_of_other_programs_are_left_out(root: Path, name: str) -> None:
    write(root, "venv/pyvenv.cfg", "")
    write(root, name)
    assert problems() == []
