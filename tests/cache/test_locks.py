"""A lock makes other processes wait; work is done without it where locking fails."""

from __future__ import annotations

import errno
import threading
from pathlib import Path

import filelock
import pytest

from registry.cache.locks import lock


def test_lock_makes_other_processes_wait(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "x.lock"
    order: list[str] = []

    def wait() -> None:
        with lock(path):
            order.append("second")

    with lock(path):
        other = threading.Thread(target=wait)
        other.start()
        other.join(0.2)
        order.append("first")
    other.join(10)
    assert order == ["first", "second"]


@pytest.mark.parametrize(
    "error", [OSError(errno.EROFS, "read-only"), NotImplementedError()], ids=str
)
def test_work_continues_if_locking_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    with lock(tmp_path / "x.lock"):
        done = True
    assert done


def test_lock_is_released_after_an_error(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(KeyError), lock(tmp_path / "x.lock"):
            raise KeyError
