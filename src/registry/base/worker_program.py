"""The program of a worker process, and the frames that it exchanges with its parent.

It is run as a script, with the number of a socket as its argument. The first frame is the
`sys.path` of the parent; only then can anything but the standard library be imported.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle  # nosec B403
import queue
import signal
import socket
import struct
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any

__all__ = ["Answer", "Tell", "receive", "send"]

Tell = Callable[[Any], None]
"""Sends the parent a message while a request is worked on."""

Answer = tuple[str, Any]
"""`result`, `message` or `error` with a value; `failed` with a traceback."""

_LENGTH = struct.Struct("!Q")


def send(end: socket.socket, value: Any) -> None:
    """Write a value to a socket.

    Raises:
        OSError: the other process has ended.
    """
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    # One call for each part: a thread that waits for the interpreter's lock between calls waits
    # for milliseconds while another one computes.
    end.sendall(_LENGTH.pack(len(data)))
    end.sendall(data)


def receive(end: socket.socket) -> Any:
    """Return the next value of a socket.

    Raises:
        EOFError, OSError: the other process has ended.
    """
    (size,) = _LENGTH.unpack(_read(end, _LENGTH.size))
    # Both ends are ours: the socket has no name, and no other process has it.
    return pickle.loads(_read(end, size))  # nosec B301 # noqa: S301


def _read(end: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    with memoryview(data) as view:
        done = 0
        while done < size:
            count = end.recv_into(view[done:], 0, socket.MSG_WAITALL)
            if not count:
                raise EOFError
            done += count
    return data


def _die() -> None:
    """End this process and those that it has started, at once."""
    os.killpg(0, signal.SIGKILL)


def _main() -> None:
    end = socket.socket(fileno=int(sys.argv[1]))
    end.set_inheritable(False)
    sys.path[:] = receive(end)
    waiting: queue.SimpleQueue[tuple[str, tuple[Any, ...]]] = queue.SimpleQueue()

    # Requests are read at all times, so that the parent never waits to send one, and so that the
    # end of the parent is noticed during the work.
    def read() -> None:
        try:
            while True:
                waiting.put(receive(end))
        except (EOFError, OSError):
            _die()

    threading.Thread(target=read, name="waiting", daemon=True).start()
    while True:
        answer = _answer(end, *waiting.get())
        # What a mapper printed: this process ends by a signal, which loses what is buffered.
        with contextlib.suppress(OSError, ValueError):  # the parent may have closed its output
            if sys.stdout is not None:
                sys.stdout.flush()
        try:
            send(end, answer)
        except OSError:
            _die()


def _answer(end: socket.socket, name: str, arguments: tuple[Any, ...]) -> Answer:
    from registry.errors import RegistryError

    def tell(message: Any) -> None:
        send(end, ("message", message))

    try:
        module, _, function = name.partition(":")
        return "result", getattr(importlib.import_module(module), function)(tell, *arguments)
    except RegistryError as error:
        return "error", error
    except BaseException:  # noqa: BLE001 (whatever ends it, the parent has to know)
        return "failed", traceback.format_exc()


if __name__ == "__main__":
    _main()
