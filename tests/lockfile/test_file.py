"""The file of a lock: regular, not a link, and of limited size."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from registry import LockError
from registry.lockfile.file import read_bytes, write_text


def test_file_is_read_and_written(tmp_path: Path) -> None:
    path = tmp_path / "datasets.lock"
    assert read_bytes(path) is None
    write_text(path, "ü\n")
    assert read_bytes(path) == "ü\n".encode()


@pytest.mark.parametrize("target", ["other", "missing", "/dev/zero", "."])
def test_link_is_not_followed(tmp_path: Path, target: str) -> None:
    (tmp_path / "other").write_text("SECRET")
    path = tmp_path / "datasets.lock"
    path.symlink_to(target)
    with pytest.raises(LockError, match="can't be read: a symbolic link, which is not followed"):
        read_bytes(path)


def test_pipe_is_not_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "datasets.lock"
    os.mkfifo(path)
    with pytest.raises(LockError, match="a device, pipe or socket"):
        read_bytes(path)


def test_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LockError, match="can't be read: Is a directory"):
        read_bytes(tmp_path)


def test_size_is_limited_and_the_user_can_raise_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "datasets.lock"
    path.touch()
    os.truncate(path, (8 << 20) + 1)
    with pytest.raises(LockError) as caught:
        read_bytes(path, shown_as="datasets.lock")
    (problem,) = caught.value.problems
    assert str(problem) == (
        "datasets.lock $: larger than 8 MiB"
        " (REGISTRY_MAX_LOCK_MIB sets another limit, if you trust it)"
    )
    monkeypatch.setenv("REGISTRY_MAX_LOCK_MIB", "9")
    assert len(read_bytes(path) or b"") == (8 << 20) + 1
