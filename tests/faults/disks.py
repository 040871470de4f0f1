"""Small, full and read-only disks: mounts that go with the test."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["fill", "read_only", "small_disk"]


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    """Mount a disk of so many bytes at a new folder; skip the test where that is not allowed."""
    folder.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(folder))
    try:
        yield folder
    finally:
        _unmount(folder)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nobody, not even root, write below a folder."""
    _mount("--bind", str(folder), str(folder))
    try:
        _mount("-o", "remount,bind,ro", str(folder))
        yield
    finally:
        _unmount(folder)


def fill(folder: Path) -> Path:
    """Write a file until the disk of a folder is full; return the file."""
    path = folder / "filler"
    for size in (1 << 16, 1 << 12, 1):
        with open(path, "ab", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass
    with pytest.raises(OSError, match="No space left"):
        path.with_name("more").write_bytes(b"x")
    path.with_name("more").unlink()
    return path


def _mount(*arguments: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    done = subprocess.run(["mount", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no disk can be mounted here: {done.stderr.strip()}")


def _unmount(folder: Path) -> None:
    # Lazily: a process of the test that is just ending may still be in it.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
