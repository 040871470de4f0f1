"""A worker process: calls, messages, errors, and its end."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from registry.base.processes import child
from registry.base.processes.worker import Worker, WorkerLostError, can_start, command_pid
from registry.errors import MappingError

FUNCTIONS = """
import os, signal, subprocess, sys, time
from registry.errors import MappingError
import __main__

def place(tell):
    from registry.base.processes.worker import command_pid
    ids = os.getpgid(0), command_pid()
    return os.environ.get("REGISTRY_JOBS"), ids, __main__.__file__, sys.path[1:]
def count(tell, number):
    for one in range(number):
        tell(one)
    return number
def refuse(tell):
    raise MappingError("it is wrong", record=7)
def divide(tell):
    return 1 / 0
def die(tell):
    os.kill(os.getpid(), signal.SIGKILL)
def leave(tell):
    os._exit(3)
def sleep(tell):
    time.sleep(60)
def leave_another(tell, command):
    subprocess.Popen(command)
    os._exit(3)
"""


@pytest.fixture
def worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Worker:
    """A worker that can import `functions`."""
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(str(tmp_path))
    return Worker()


def test_a_worker_has_the_path_of_its_parent_and_starts_no_workers(worker: Worker) -> None:
    with worker:
        worker.send("functions:place")
        jobs, ids, main, path = worker.receive()
    assert (jobs, main) == ("1", child.__file__)
    assert ids == (worker.process_id, command_pid()) == (worker.process_id, os.getpid())
    assert path == sys.path[1:]


def test_answers_come_in_order_after_messages(worker: Worker) -> None:
    messages: list[int] = []
    with worker:
        worker.send("functions:count", 2)
        worker.send("functions:count", 1)
        assert [worker.receive(messages.append), worker.receive()] == [2, 1]
    assert messages == [0, 1]


def test_errors_are_raised_and_the_worker_goes_on(worker: Worker) -> None:
    with worker:
        worker.send("functions:refuse")
        with pytest.raises(MappingError, match="record 7: it is wrong"):
            worker.receive()
        worker.send("functions:divide")
        with pytest.raises(WorkerLostError, match="ZeroDivisionError: division by zero"):
            worker.receive()
        worker.send("functions:count", 0)
        assert worker.receive() == 0


@pytest.mark.parametrize(
    ("function", "message"),
    [("die", "was killed by signal 9"), ("leave", "ended with exit code 3")],
)
def test_a_lost_worker_is_an_error_that_says_how(
    worker: Worker, function: str, message: str
) -> None:
    with worker:
        worker.send(f"functions:{function}")
        with pytest.raises(WorkerLostError, match=message):
            worker.receive()


def test_a_worker_is_stopped_from_another_thread(worker: Worker) -> None:
    with worker:
        worker.send("functions:sleep")
        threading.Timer(0.3, worker.stop).start()
        with pytest.raises(WorkerLostError, match="signal 9"):
            worker.receive()
    with pytest.raises(ProcessLookupError):
        os.killpg(worker.process_id, 0)


@pytest.mark.skipif(not hasattr(os, "waitid"), reason="this system can't wait without awaiting")
@pytest.mark.parametrize("is_noticed", [True, False])
def test_what_a_worker_has_started_ends_with_it(
    worker: Worker, tmp_path: Path, is_noticed: bool
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    command = [
        sys.executable,
        "-c",
        f"import time; file = open({str(pipe)!r}, 'w'); time.sleep(60)",
    ]
    with worker:
        worker.send("functions:leave_another", command)
        # A pipe is opened when the other process has opened it, and at its end when that ends.
        with pipe.open("rb", buffering=0) as opened:
            if is_noticed:
                with pytest.raises(WorkerLostError, match="exit code 3"):
                    worker.receive()
            else:
                os.waitid(os.P_PID, worker.process_id, os.WEXITED | os.WNOWAIT)
                worker.close()
            assert select.select([opened], [], [], 20)[0]
            assert opened.read() == b""


def test_no_worker_without_an_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    assert can_start()
    monkeypatch.setattr(sys, "executable", "")
    assert not can_start()
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(WorkerLostError, match="can't start a process"):
        Worker()


def test_the_worker_of_a_script_on_stdin_does_not_run_the_script() -> None:
    script = (
        "from registry.base.processes.worker import Worker\n"
        "print('once', flush=True)\n"
        "with Worker() as worker:\n"
        "    worker.send('builtins:print', 'in the worker')\n"
        "    worker.receive()\n"
    )
    command = [sys.executable, "-"]
    # Buffered, as by default.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        command, input=script, capture_output=True, text=True, check=True, env=environment
    )
    first, second = done.stdout.splitlines()
    assert first == "once"
    assert second.endswith("in the worker")


def test_options_of_the_interpreter_are_passed_on() -> None:
    script = (
        "import sys\n"
        "from registry.base.processes.worker import _interpreter\n"
        "print(*_interpreter()[1:])\n"
    )
    command = [sys.executable, "-OO", "-X", "utf8=1", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["-P", "-O", "-O", "-X", "utf8=1"]
