"""A lock makes other processes wait, and say for whom; work is done without it where it fails."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import pytest

from registry.base import executor
from registry.cache import locks
from registry.cache.cache import Cache
from registry.cache.locks import again_if_lost
from registry.errors import CacheError, DamagedEntryError
from registry.progress import Deadline, Progress, Report, silent


def lock(
    path: Path, report: Report = silent, *, seconds: float = 60
) -> AbstractContextManager[Report]:
    return locks.lock(path, dataset="qa", report=report, deadline=Deadline(seconds))


@contextmanager
def held_elsewhere(path: Path) -> Iterator[None]:
    """Hold a lock in another thread, which excludes this one as another process would."""
    ready, done = threading.Event(), threading.Event()

    def hold() -> None:
        with lock(path):
            ready.set()
            done.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    assert ready.wait(10)
    try:
        yield
    finally:
        done.set()
        thread.join(10)


def test_lock_makes_other_processes_wait(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "x.lock"
    order: list[str] = []

    def wait() -> None:
        with lock(path):
            order.append("second")

    with lock(path):
        other = threading.Thread(target=wait)
        other.start()
        other.join(0.5)
        order.append("first")
    other.join(10)
    assert order == ["first", "second"]


def test_lock_file_says_who_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    path.write_text("x" * 1000, encoding="utf-8")  # of an earlier holder
    before = time.time()
    with lock(path):
        holder = json.loads(path.read_text(encoding="utf-8"))
    assert (holder["pid"], holder["dataset"]) == (os.getpid(), "qa")
    assert holder["host"]
    assert before <= holder["since"] <= time.time()


@pytest.mark.parametrize("is_own", [False, True])
def test_waiting_is_reported_with_the_holder_of_another_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_own: bool
) -> None:
    path, reports = tmp_path / "x.lock", list[Progress]()

    class EnoughError(Exception):
        pass

    def report(progress: Progress) -> None:
        reports.append(progress)
        if len(reports) == 3:
            raise EnoughError  # as an interrupted `sync` does

    with held_elsewhere(path):
        if not is_own:
            monkeypatch.setattr(executor, "command_pid", lambda: 1)
        with pytest.raises(EnoughError), lock(path, report):
            pass
    assert [one.stage for one in reports] == ["wait"] * 3
    holder = rf"process {os.getpid()} on .+, which has worked on qa since 20.+"
    assert re.fullmatch("" if is_own else holder, reports[0].note)


def test_process_without_progress_is_not_waited_for(tmp_path: Path) -> None:
    path, now = tmp_path / "x.lock", [0.0]

    def wait(_: Progress) -> None:
        now[0] += 0.6

    message = rf"^no progress for 1 second by process {os.getpid()} on .*, which has worked on qa since .*; it holds the lock {path} \(end it and try again; REGISTRY_DEADLINE sets"  # fmt: skip
    deadline = Deadline(1, clock=lambda: now[0])
    waiting = locks.lock(path, dataset="qa", report=wait, deadline=deadline)
    with held_elsewhere(path), pytest.raises(CacheError, match=message), waiting:
        pass


def test_process_with_progress_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "_TOUCH_SECONDS", 0)
    path, now, holding, polls = tmp_path / "x.lock", [0.0], Deadline(60), list[int]()
    with ExitStack() as holder:
        work = holder.enter_context(locks.lock(path, dataset="qa", report=silent, deadline=holding))

        def wait(progress: Progress) -> None:
            polls.append(progress.done)
            now[0] += 1.5  # without progress, the second time would be the last
            holding.progress()
            work(Progress("map", 1))
            if len(polls) == 5:
                holder.close()

        deadline = Deadline(2, clock=lambda: now[0])
        with locks.lock(path, dataset="qa", report=wait, deadline=deadline):
            assert len(polls) == 5


def test_reports_without_progress_do_not_keep_others_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "_TOUCH_SECONDS", 0)
    path, deadline = tmp_path / "x.lock", Deadline(60)
    with locks.lock(path, dataset="qa", report=silent, deadline=deadline) as report:
        os.utime(path, (1, 1))
        report(Progress("wait", 5, note="a third process"))
        assert path.stat().st_mtime == 1
        deadline.progress()
        report(Progress("map", 1))
        assert path.stat().st_mtime > 1


@pytest.mark.parametrize("content", [b"", b"{", b"[" * 5000, b"\xff", b'{"pid": 1}'])
def test_unreadable_holder_is_another_process(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.lock"
    with held_elsewhere(path):
        path.write_bytes(content)
        with pytest.raises(CacheError, match="by another process; it holds"), lock(path, seconds=0):
            pass


def test_holder_can_write_nothing_that_a_terminal_obeys(tmp_path: Path) -> None:
    path = tmp_path / "x.lock"
    with held_elsewhere(path):
        path.write_text(
            json.dumps({"pid": 1, "host": "h", "dataset": "\x1b[2J", "since": 0}), encoding="utf-8"
        )
        with pytest.raises(CacheError, match=r"on \\u\{1b\}\[2J since"), lock(path, seconds=0):
            pass


def test_holder_is_not_written_through_a_link(tmp_path: Path) -> None:
    target, path = tmp_path / "target", tmp_path / "x.lock"
    target.write_text("precious", encoding="utf-8")
    path.symlink_to(target)
    with lock(path):
        pass
    assert target.read_text(encoding="utf-8") == "precious"


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
def test_work_continues_if_locking_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(code, "no locks")

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with lock(tmp_path / "x.lock"):
        done = True
    assert done


def test_lock_of_a_removed_file_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, calls, flock = tmp_path / "x.lock", list[int](), fcntl.flock

    def flock_after_removal(descriptor: int, operation: int) -> None:
        if not calls:  # as `prune` does between the two calls
            path.unlink()
        calls.append(operation)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock_after_removal)
    with lock(path):
        assert path.exists()
        with pytest.raises(CacheError, match="no progress"), lock(path, seconds=0):
            pass


def test_lock_is_released_although_its_file_is_open_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, copies, flock = tmp_path / "x.lock", list[int](), fcntl.flock

    def flock_and_copy(descriptor: int, operation: int) -> None:
        copies.append(os.dup(descriptor))  # as a child process has it
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock_and_copy)
    with lock(path):
        pass
    with lock(path, seconds=0):
        pass
    for descriptor in copies:
        os.close(descriptor)


def test_lock_is_released_after_an_error(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(KeyError), lock(tmp_path / "x.lock"):
            raise KeyError


def test_work_is_done_again(cache: Cache) -> None:
    results: list[str | Exception] = [
        DamagedEntryError("is gone"),
        FileNotFoundError(2, "No such file", str(cache.root / "blobs" / "x")),
        "made",
    ]

    def work() -> str:
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    assert again_if_lost(work, cache.root) == "made"


def test_what_is_gone_each_time_is_an_error(cache: Cache) -> None:
    with pytest.raises(CacheError, match=r"No such file .*/cache/x' \(does another process clear"):
        again_if_lost((cache.root / "x").read_bytes, cache.root)

    def damaged() -> None:
        raise DamagedEntryError("is damaged")

    with pytest.raises(DamagedEntryError, match="is damaged"):
        again_if_lost(damaged, cache.root)


def test_other_missing_file_is_an_error_at_once(cache: Cache, tmp_path: Path) -> None:
    calls: list[int] = []

    def work() -> bytes:
        calls.append(1)
        return (tmp_path / "data.csv").read_bytes()

    with pytest.raises(FileNotFoundError):
        again_if_lost(work, cache.root)
    assert calls == [1]
