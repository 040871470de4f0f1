"""Globs match what `glob` matches, and stop at a limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.catalog.globs import EntryCount, GlobLimitError, match_glob


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in ("a.yaml", "s/b.yaml", "s/t/c.yaml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("", encoding="utf-8")
    return tmp_path


def test_matches_are_relative_and_sorted(root: Path) -> None:
    assert match_glob("**/*.yaml", str(root), EntryCount(100)) == [
        "a.yaml",
        "s/b.yaml",
        "s/t/c.yaml",
    ]
    assert match_glob(f"{root}/s/*", "/", EntryCount(100)) == [f"{root}/s/b.yaml", f"{root}/s/t"]


@pytest.mark.parametrize("pattern", ["**/**/*.yaml", "**/s/**/*.yaml", "/usr/**/**/**/*.nothing"])
def test_second_double_star_is_refused(root: Path, pattern: str) -> None:
    with pytest.raises(GlobLimitError, match=r"^more than one `\*\*`$"):
        match_glob(pattern, str(root), EntryCount(100))


def test_entries_are_counted_in_all_folders(root: Path) -> None:
    assert len(match_glob("**/*.yaml", str(root), EntryCount(10))) == 3
    with pytest.raises(GlobLimitError, match=r"^lists more than 9 files and folders$"):
        match_glob("**/*.yaml", str(root), EntryCount(9))


def test_links_in_a_circle_stop_at_the_limit(root: Path) -> None:
    (root / "one").symlink_to(".")
    (root / "two").symlink_to(".")
    with pytest.raises(GlobLimitError, match="more than 1,000 "):
        match_glob("**/*.yaml", str(root), EntryCount(1000))


def test_folder_that_is_missing_or_a_file_has_no_matches(root: Path) -> None:
    for pattern in ("none/*", "none/**", "a.yaml/*", "a.yaml/**", "\0*"):
        assert match_glob(pattern, str(root), EntryCount(100)) == []


def test_entries_of_several_globs_are_counted_together(root: Path) -> None:
    entries = EntryCount(10)
    match_glob("**/*.yaml", str(root), entries)
    with pytest.raises(GlobLimitError):
        match_glob("*.yaml", str(root), entries)
