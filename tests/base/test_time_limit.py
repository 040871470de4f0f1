"""Work in a thread that is left behind when it makes no progress."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from registry.base import time_limit
from registry.base.time_limit import LibraryError, NoProgressError, run_limited


def test_result_and_errors_come_back() -> None:
    assert run_limited(lambda _: 7, 5) == 7
    with pytest.raises(LibraryError) as raised:
        run_limited(lambda _: os.environ["NO SUCH VARIABLE"], 5)
    assert isinstance(raised.value.__cause__, KeyError)


def test_work_without_progress_is_left_behind() -> None:
    end = threading.Event()
    with pytest.raises(NoProgressError):
        run_limited(lambda _: end.wait(), 0.05)
    end.set()


def test_work_with_progress_may_take_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    now, looked = [0.0], threading.Semaphore(0)
    monkeypatch.setattr(time_limit, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(time_limit, "_TICK_SECONDS", 0.01)

    def work(progress: Callable[[], None]) -> str:
        for _ in range(8):
            now[0] += 40
            assert looked.acquire(timeout=30)
            progress()
        return "done"

    assert run_limited(work, 60, tick=looked.release) == "done"


def test_an_exception_of_tick_ends_the_wait() -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    end = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        run_limited(lambda _: end.wait(), 60, tick=stop)
    end.set()
