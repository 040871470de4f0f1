"""The program of a worker: frames, answers, and how it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from registry.base import worker_program
from registry.errors import MappingError


def test_a_frame_is_received_as_it_was_sent_however_large() -> None:
    one, other = socket.socketpair()
    value = {"lines": bytearray(b"x" * 3_000_000), "number": 1}
    with one, other:
        thread = threading.Thread(target=worker_program.send, args=(one, value))
        thread.start()
        assert worker_program.receive(other) == value
        thread.join()
        one.close()
        with pytest.raises(EOFError):
            worker_program.receive(other)


def tell_twice(tell: worker_program.Tell, value: Any) -> Any:
    tell(value)
    tell(value)
    return [value]


def fail(tell: worker_program.Tell, error: BaseException) -> None:
    raise error


def test_a_function_is_called_by_its_name_and_may_tell_what_it_does() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert worker_program._answer(one, f"{__name__}:tell_twice", (3,)) == ("result", [3])
        assert [worker_program.receive(other), worker_program.receive(other)] == [
            ("message", 3),
            ("message", 3),
        ]


def test_our_errors_are_answers_and_others_are_tracebacks() -> None:
    one, other = socket.socketpair()
    with one, other:
        error = MappingError("no", record=3)
        assert worker_program._answer(one, f"{__name__}:fail", (error,)) == ("error", error)
        kind, text = worker_program._answer(one, f"{__name__}:fail", (SystemExit("why"),))
        assert kind == "failed"
        assert text.endswith("SystemExit: why\n")


@pytest.mark.parametrize("is_working", [False, True])
def test_a_worker_ends_with_its_parent(tmp_path: Path, *, is_working: bool) -> None:
    (tmp_path / "sleeper.py").write_text("import time\ndef f(tell): tell(1); time.sleep(60)")
    one, other = socket.socketpair()
    with one:
        with other:
            process = subprocess.Popen(
                [sys.executable, worker_program.__file__, str(other.fileno())],
                pass_fds=[other.fileno()],
                process_group=0,
            )
        worker_program.send(one, [str(tmp_path), *sys.path])
        if is_working:
            worker_program.send(one, ("sleeper:f", ()))
            assert worker_program.receive(one) == ("message", 1)
    assert process.wait(30) == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)
