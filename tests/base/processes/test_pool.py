"""Workers that threads share: no more than allowed, used again, and ended at once."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from registry.base.processes.pool import Workers, WorkersEndedError
from registry.base.processes.worker import WorkerLostError
from registry.errors import MappingError


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions that workers can import."""
    (tmp_path / "pooled.py").write_text(
        "import os, time\n"
        "from registry.errors import MappingError\n"
        "def own(tell): return os.getpid()\n"
        "def refuse(tell): raise MappingError('no')\n"
        "def sleep(tell): time.sleep(60)\n"
        "def fail(tell): raise TypeError('bug')\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))


def own_id(workers: Workers, function: str = "own") -> int:
    with workers.borrow() as worker:
        worker.send(f"pooled:{function}")
        return int(worker.receive())


@pytest.mark.usefixtures("place")
def test_a_worker_is_used_again_unless_it_failed() -> None:
    with Workers(1) as workers:
        first = own_id(workers)
        with pytest.raises(MappingError):
            own_id(workers, "refuse")
        assert own_id(workers) == first != os.getpid()
        with pytest.raises(WorkerLostError):
            own_id(workers, "fail")
        assert own_id(workers) != first


@pytest.mark.usefixtures("place")
def test_threads_wait_until_a_worker_is_free() -> None:
    found: list[int] = []
    with Workers(1) as workers:
        threads = [threading.Thread(target=lambda: found.append(own_id(workers))) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 3
    assert len(set(found)) == 1


@pytest.mark.usefixtures("place")
def test_the_end_interrupts_work_and_waiting() -> None:
    workers, errors, started = Workers(1), [], threading.Event()

    def work() -> None:
        try:
            with workers.borrow() as worker:
                worker.send("pooled:sleep")
                started.set()
                worker.receive()
        except WorkersEndedError as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert started.wait(30)
    workers.end()
    for thread in threads:
        thread.join(30)
    assert len(errors) == 2
    with pytest.raises(WorkersEndedError), workers.borrow():
        pass
