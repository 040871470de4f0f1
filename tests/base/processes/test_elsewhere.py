"""Calls by workers: in order, again if a worker is lost, and never for ever."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from registry.base.processes.elsewhere import WorkerCalls
from registry.base.processes.pool import Workers
from registry.base.processes.worker import WorkerLostError
from registry.errors import RegistryError

HERE = "tests.base.processes.test_elsewhere"


def double(tell: object, number: int) -> int:
    """Return twice a number."""
    return 2 * number


def refuse(tell: object) -> None:
    """Raise an error of ours."""
    raise RegistryError("no")


def die(tell: object, marker: Path | None) -> str:
    """End this process, the first time if there is a marker."""
    if marker is None or not marker.exists():
        if marker is not None:
            marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerCalls]:
    """Give calls by two workers, which find this module."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3]))
    with Workers(2) as workers:
        made = WorkerCalls(workers)
        yield made
        made.end()


def test_results_belong_to_their_calls(calls: WorkerCalls) -> None:
    later = [calls.call(f"{HERE}:double", number) for number in range(20)]
    assert [one.result(timeout=60) for one in later] == [2 * number for number in range(20)]
    assert calls.most == 4


def test_error_of_ours_is_raised(calls: WorkerCalls) -> None:
    with pytest.raises(RegistryError, match="no"):
        calls.call(f"{HERE}:refuse").result(timeout=60)


def test_call_of_a_lost_worker_is_made_again(calls: WorkerCalls, tmp_path: Path) -> None:
    found: Any = calls.call(f"{HERE}:die", tmp_path / "died").result(timeout=60)
    assert found == "done"


def test_call_that_kills_every_worker_is_an_error(calls: WorkerCalls) -> None:
    with pytest.raises(WorkerLostError, match="killed by signal 9"):
        calls.call(f"{HERE}:die", None).result(timeout=60)
