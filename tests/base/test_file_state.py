"""The state of a file changes with its content, even if a tool restores its times."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from registry.base.file_state import ABSENT, INODE_MASK, FileState

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path


def test_a_path_and_its_stat_have_the_same_state(file: Path) -> None:
    stat = file.stat()
    assert FileState.of(file) == FileState.of(str(file)) == FileState.of(stat)
    assert FileState.of(file)[:3] == (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


def test_its_json_is_a_list(file: Path) -> None:
    state = FileState.of(file)
    assert FileState(*json.loads(json.dumps(state))) == state


def rewrite(file: Path) -> None:
    file.write_bytes(b"new")


def replace(file: Path) -> None:
    other = file.with_name("other")
    other.write_bytes(b"new")
    other.rename(file)


@pytest.mark.parametrize("edit", [rewrite, replace])
def test_an_edit_of_equal_size_with_the_old_time_changes_the_state(
    file: Path, edit: Callable[[Path], None]
) -> None:
    before = FileState.of(file)
    time.sleep(0.02)  # a file system's clock ticks every few milliseconds
    edit(file)
    os.utime(file, ns=(before.mtime_ns, before.mtime_ns))
    after = FileState.of(file)
    assert (after.size, after.mtime_ns) == (before.size, before.mtime_ns)
    assert after != before


def test_a_missing_file_is_absent_or_an_error(tmp_path: Path) -> None:
    assert FileState.or_absent(tmp_path / "none") == ABSENT
    with pytest.raises(FileNotFoundError):
        FileState.of(tmp_path / "none")


def test_an_inode_of_64_bits_fits_a_signed_integer() -> None:
    stat = os.stat_result((0, (1 << 64) - 1, *[0] * 8))
    assert FileState.of(stat).inode == INODE_MASK == (1 << 63) - 1


@pytest.mark.parametrize(
    ("age", "racy"), [(0, True), (1.9, True), (-1.9, True), (2.5, False), (-2.5, False)]
)
def test_a_file_is_racy_for_two_seconds_around_its_time(
    monkeypatch: pytest.MonkeyPatch, age: float, racy: bool
) -> None:
    monkeypatch.setattr("time.time", lambda: 1_700_000_000 + age)
    state = FileState(1, 1_700_000_000 * 10**9, 0, 1)
    assert state.is_racy() == racy
