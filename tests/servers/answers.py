"""A server that answers with any bytes at any pace: what HTTP servers, and what is none, may send.

    with AnswerServer({"/a.csv": Script(whole(b"q,a\\n1,2\\n"))}) as server:
        …                                                    # a client reads server.url + "/a.csv"

A script yields bytes to send and seconds to wait; at its end the connection is closed.
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple, Self

__all__ = ["RESET", "RUDE", "AnswerServer", "Asked", "Reply", "Script", "repeat", "whole"]

RESET = "reset"
"""Ends a script: the connection is reset (RST)."""
RUDE = "rude"
"""Ends a script: TLS is left without the close_notify that says that all has been sent."""
_NO_LINGER = struct.pack("ii", 1, 0)
_READING = 0.2
_END = b"\r\n\r\n"


class Asked(NamedTuple):
    """A request."""

    method: str
    path: str
    headers: Mapping[str, str]
    """By lower-case name."""
    before: int
    """How many of its method and path came before."""

    @property
    def start(self) -> int:
        """Where the requested range begins."""
        return int(self.headers.get("range", "bytes=0-").removeprefix("bytes=").partition("-")[0])


Reply = Callable[[Asked], Iterable[bytes | float | str]]


@dataclass(frozen=True)
class Script:
    """What is answered for one path."""

    get: Reply
    head: Reply | None = None
    """Without it, HEAD is answered as GET, up to the end of the header."""


def whole(
    body: bytes, *headers: str, status: str = "200 OK", length: bool = True, end: str = ""
) -> Reply:
    """Return the usual answer, with further headers."""
    lines = [f"HTTP/1.1 {status}", *headers, "Connection: close"]
    if length:
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join([*lines, "", ""]).encode("latin-1")
    return lambda _: (head, body, end) if end else (head, body)


def repeat(begin: bytes, again: bytes, pause: float = 0.1) -> Reply:
    """Return an answer that begins, and then repeats something for ever."""

    def endless(_: Asked) -> Iterator[bytes | float]:
        yield begin
        while True:
            yield again
            yield pause

    return endless


class AnswerServer:
    """Answers each path by its script; a context manager."""

    def __init__(self, scripts: Mapping[str, Script], tls: ssl.SSLContext | None = None) -> None:
        self._scripts = scripts
        self._tls = tls
        self._counts: Counter[tuple[str, str]] = Counter()
        self._stopped = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=256)

    @property
    def url(self) -> str:
        """Its root, without a slash at the end."""
        scheme, host = ("https", "localhost") if self._tls else ("http", "127.0.0.1")
        return f"{scheme}://{host}:{self._socket.getsockname()[1]}"

    def asked(self, path: str) -> int:
        """Return how often a path was asked for with GET."""
        return self._counts["GET", path]

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, name="answers", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        # A thread that waits in `accept` would keep the port of a socket that is only closed.
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        while not self._stopped.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:  # of clients that go away
            connection.settimeout(10)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls is None:
                self._answer(connection)
                return
            with self._tls.wrap_socket(connection, server_side=True) as secure:
                if not self._answer(secure):
                    # Says that all has been sent, and does not wait for the other side.
                    secure.settimeout(1)
                    with suppress(OSError):
                        secure.unwrap()

    def _answer(self, connection: socket.socket) -> bool:
        """Answer a request; return whether the connection ends without a word."""
        asked = self._request(connection)
        if asked is None:
            return True
        script = self._scripts.get(asked.path)
        reply = script.get if script else whole(b"", status="404 Not Found")
        if script and script.head and asked.method == "HEAD":
            reply = script.head
        parts = reply(asked)
        end = self._play(connection, _only_head(parts) if asked.method == "HEAD" else parts)
        if end == RESET:
            time.sleep(_READING)  # clients drop what they received when a connection is reset
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        return bool(end)

    def _play(self, connection: socket.socket, parts: Iterable[bytes | float | str]) -> str:
        for part in parts:
            if self._stopped.is_set():
                return RESET
            if isinstance(part, str):
                return part
            if isinstance(part, bytes):
                connection.sendall(part)
            else:
                self._stopped.wait(part)
        return ""

    def _request(self, connection: socket.socket) -> Asked | None:
        received = b""
        while _END not in received:
            more = connection.recv(1 << 16)
            if not more:
                return None
            received += more
        line, *rest = received.partition(_END)[0].decode("latin-1").split("\r\n")
        method, path, _ = line.split(" ", 2)
        pairs = (one.partition(":") for one in rest)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        path = path.partition("?")[0]
        count = self._counts[method, path]
        self._counts[method, path] += 1
        return Asked(method, path, headers, count)


def _only_head(parts: Iterable[bytes | float | str]) -> Iterator[bytes | float | str]:
    """Yield a script up to the end of its header, which interim answers may precede."""
    block = b""
    for part in parts:
        if not isinstance(part, bytes):
            yield part
            continue
        *ended, rest = (block + part).split(_END)
        finals = [at for at, one in enumerate(ended) if not one.startswith(b"HTTP/1.1 1")]
        if finals:
            kept = sum(len(one) + len(_END) for one in ended[: finals[0] + 1])
            yield part[: kept - len(block)]
            return
        yield part
        block = rest
