"""Workers: calls, messages, errors, and their end."""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from pathlib import Path
from typing import Any

import pytest

from registry.base import worker_program
from registry.base.executor import (
    WorkerLostError,
    Workers,
    WorkersEndedError,
    can_start,
    command_pid,
)
from registry.errors import MappingError

FUNCTIONS = """
import os, signal, subprocess, sys, time
from registry.errors import MappingError
import __main__

prepared = []
def prepare(tell, value):
    prepared.append(value)
def of_prepared(tell):
    return os.getpid(), prepared
def place(tell):
    from registry.base.executor import command_pid
    ids = os.getpid(), os.getpgid(0), command_pid()
    return os.environ.get("REGISTRY_JOBS"), ids, __main__.__file__, sys.path[1:]
def own(tell):
    return os.getpid()
def count(tell, number):
    for one in range(number):
        tell(one)
    return number
def double(tell, number):
    return 2 * number
def refuse(tell, *arguments):
    raise MappingError("it is wrong", record=7)
def divide(tell):
    return 1 / 0
def die(tell, marker=None):
    if marker is None or not marker.exists():
        if marker is not None:
            marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return "done"
def leave(tell):
    os._exit(3)
def sleep(tell):
    tell("begun")
    time.sleep(60)
def start_another(tell, command, marker):
    subprocess.Popen(command)
    while not os.path.exists(marker):
        time.sleep(0.01)
def leave_another(tell, command, marker):
    start_another(tell, command, marker)
    os._exit(3)
"""


@pytest.fixture(autouse=True)
def _functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let workers import `functions`."""
    (tmp_path / "functions.py").write_text(FUNCTIONS)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.fixture
def workers() -> Iterator[Workers]:
    """Give one worker."""
    with Workers(1) as one:
        yield one


def result(workers: Workers, function: str, *arguments: Any, **options: Any) -> Any:
    return workers.call(f"functions:{function}", *arguments, **options).result(60)


def test_a_worker_has_the_path_of_its_parent_and_starts_no_workers(workers: Workers) -> None:
    jobs, ids, main, path = result(workers, "place")
    assert (jobs, main) == ("1", worker_program.__file__)
    (own,) = workers.process_ids
    assert ids == (own, own, command_pid()) == (own, own, os.getpid())
    assert path == sys.path[1:]


def test_messages_come_before_the_result(workers: Workers) -> None:
    messages: list[int] = []
    assert result(workers, "count", 2, on_message=messages.append) == 2
    assert result(workers, "count", 1) == 1
    assert messages == [0, 1]


def test_results_belong_to_their_calls() -> None:
    with Workers(2) as workers:
        assert workers.most == 4
        later = [workers.call("functions:double", number) for number in range(20)]
        assert [one.result(timeout=60) for one in later] == [2 * number for number in range(20)]
        assert 1 <= len(workers.process_ids) <= 2


def test_a_worker_is_used_again_unless_it_failed(workers: Workers) -> None:
    first = result(workers, "own")
    with pytest.raises(MappingError, match="record 7: it is wrong"):
        result(workers, "refuse")
    assert result(workers, "own") == first != os.getpid()
    with pytest.raises(WorkerLostError, match="ZeroDivisionError: division by zero"):
        result(workers, "divide")
    assert result(workers, "own") != first


def test_an_error_of_a_message_is_that_of_the_call(workers: Workers) -> None:
    first = result(workers, "own")

    def refuse(message: Any) -> None:
        raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        result(workers, "count", 3, on_message=refuse)
    assert result(workers, "own") != first  # which may be at work


def test_each_worker_is_prepared_once_for_all_calls(tmp_path: Path) -> None:
    with Workers(1, prepare=("functions:prepare", (7,))) as workers:
        first, prepared = result(workers, "of_prepared")
        assert prepared == [7]
        assert result(workers, "of_prepared") == (first, [7])
        result(workers, "die", tmp_path / "died")
        second, prepared = result(workers, "of_prepared")
        assert second != first
        assert prepared == [7]


def test_a_worker_that_can_not_be_prepared_calls_nothing() -> None:
    with Workers(1, prepare=("functions:refuse", (7,))) as workers:
        for _ in range(2):
            with pytest.raises(MappingError, match="it is wrong"):
                result(workers, "own")
        assert workers.process_ids == []


@pytest.mark.parametrize(
    ("function", "message"),
    [("die", "was killed by signal 9"), ("leave", "ended with exit code 3")],
)
def test_a_lost_worker_is_an_error_that_says_how(
    workers: Workers, function: str, message: str
) -> None:
    with pytest.raises(WorkerLostError, match=message):
        result(workers, function)


def test_call_of_a_lost_worker_is_made_again(workers: Workers, tmp_path: Path) -> None:
    assert result(workers, "die", tmp_path / "died") == "done"
    with pytest.raises(WorkerLostError, match="signal 9"):
        result(workers, "die", tmp_path / "again", attempts=1)


def test_what_can_not_be_sent_is_an_error(workers: Workers) -> None:
    with pytest.raises((TypeError, AttributeError)):
        result(workers, "double", lambda: 3)
    assert result(workers, "double", 3) == 6


def test_the_end_interrupts_work_and_waiting(workers: Workers) -> None:
    begun = threading.Event()
    work = workers.call("functions:sleep", on_message=lambda message: begun.set())
    waiting: Future[Any] = workers.call("functions:own")
    assert begun.wait(30)
    (process_id,) = workers.process_ids
    workers.end()
    with pytest.raises(WorkersEndedError):
        work.result(30)
    with pytest.raises(CancelledError):
        waiting.result(30)
    with pytest.raises(WorkersEndedError):
        workers.call("functions:own")
    with pytest.raises(ProcessLookupError):
        os.killpg(process_id, 0)
    assert not any(thread.is_alive() for thread in workers._threads._threads)


def test_the_end_does_not_wait_for_workers_that_start() -> None:
    with Workers(2, prepare=("functions:prepare", (7,))) as workers:
        later = [workers.call("functions:sleep") for _ in range(4)]
    for one in later:
        with pytest.raises((WorkersEndedError, CancelledError)):
            one.result(0)
    assert workers.process_ids == []


@pytest.mark.parametrize("is_noticed", [True, False])
def test_what_a_worker_has_started_ends_with_it(
    workers: Workers, tmp_path: Path, is_noticed: bool
) -> None:
    pipe, marker = tmp_path / "pipe", tmp_path / "marker"
    os.mkfifo(pipe)
    code = f"import time; file = open({str(pipe)!r}, 'w'); open({str(marker)!r}, 'w').close()"
    command = [sys.executable, "-c", f"{code}; time.sleep(60)"]
    function = "leave_another" if is_noticed else "start_another"
    later = workers.call(f"functions:{function}", command, str(marker), attempts=1)
    # A pipe is opened when the other process has opened it, and at its end when that ends.
    with pipe.open("rb", buffering=0) as opened:
        if is_noticed:
            with pytest.raises(WorkerLostError, match="exit code 3"):
                later.result(60)
        else:
            later.result(60)
            workers.end()
        assert select.select([opened], [], [], 20)[0]
        assert opened.read() == b""


def test_no_worker_without_an_interpreter(
    workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert can_start()
    monkeypatch.setattr(sys, "executable", "")
    assert not can_start()
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(WorkerLostError, match="can't start a process"):
        result(workers, "own")


def test_the_worker_of_a_script_on_stdin_does_not_run_the_script() -> None:
    script = (
        "from registry.base.executor import Workers\n"
        "print('once', flush=True)\n"
        "with Workers(1) as workers:\n"
        "    workers.call('builtins:print', 'in the worker').result()\n"
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
        "import sys\nfrom registry.base.executor import _interpreter\nprint(*_interpreter()[1:])\n"
    )
    command = [sys.executable, "-OO", "-X", "utf8=1", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["-P", "-O", "-O", "-X", "utf8=1"]
