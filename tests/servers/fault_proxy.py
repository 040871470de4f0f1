"""A proxy on the loopback that spoils chosen answers of the server behind it.

    with StaticFiles({"/a.csv": b"q,a\\n1,2\\n"}) as site, FaultProxy(site.url) as proxy:
        proxy.add(Fault(reset_after=4), times=1)             # the first GET only
        proxy.add(Fault(status=503, headers={"Retry-After": "1"}), path=r"/a\\.csv", times=2)
        proxy.add(Fault(drip=1.0), method="GET")             # for ever
        …                                                    # a client reads proxy.url + "/a.csv"
        proxy.log                                            # what it asked for

The first rule that fits a request decides; without one, the answer passes unchanged. Requests reach
the server with the proxy's own `Host`, so that URLs that it makes lead through the proxy again.
"""

from __future__ import annotations

import functools
import re
import socket
import struct
import sys
import threading
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Fault", "FaultProxy", "Seen"]

_HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "host"})
_PIECE = 1 << 16
_READING = 0.3
_NO_LINGER = struct.pack("ii", 1, 0)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How an answer is spoiled; several fields may be given. Without any it passes unchanged."""

    status: int | None = None
    """The proxy itself answers with this status, `headers` and `body`."""
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Set in the answer, also in that of the server: another `ETag`, a `Retry-After`."""
    without: tuple[str, ...] = ()
    """Removed from the answer; without `Content-Length` the body ends with the connection."""
    reset_after: int | None = None
    """The connection is reset (RST) after so many bytes of the body; -1 before the headers."""
    cut_after: int | None = None
    """The connection is closed after so many bytes, as if the body ended there."""
    flip: int | None = None
    """Position of the byte of the whole file that has a bit flipped; also in a range of it."""
    ignore_range: bool = False
    """The server never sees `Range`, and answers 200 with everything."""
    before: Callable[[], object] | None = None
    """Called before the server is asked; changes a file in the middle of a download."""
    silence: float = 0.0
    """Seconds before the first byte of the answer."""
    drip: float = 0.0
    """Bytes per second at which the body is sent."""
    begin: bytes = b""
    """The first bytes that are sent, in place of an answer."""
    repeat: bytes = b""
    """What follows them ten times a second, for ever."""
    stall_after: int | None = None
    """After so many bytes of the body nothing comes any more, and the connection stays open."""


class Seen(NamedTuple):
    """A request as it arrived, and what it was answered."""

    method: str
    path: str
    """As sent: still quoted, with its query."""
    headers: Mapping[str, str]
    """By lower-case name."""
    at: float
    """Time of the monotonic clock."""
    status: int
    """0 if the answer never began."""
    fault: Fault | None


@dataclass
class _Rule:
    fault: Fault
    path: re.Pattern[str]
    method: str
    left: float

    def fits(self, method: str, path: str) -> bool:
        return self.left > 0 and method == self.method and bool(self.path.search(path))


class FaultProxy:
    """Forwards requests to `upstream`, and gives chosen ones a fault; a context manager."""

    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.log: list[Seen] = []
        """Every request so far, in the order of their arrival."""
        self._rules: list[_Rule] = []
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._server: _Server | None = None

    @property
    def url(self) -> str:
        """Its root, without a slash at the end."""
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.server_port}"

    def add(
        self, fault: Fault, *, path: str = "", method: str = "GET", times: float = float("inf")
    ) -> None:
        """Give the next `times` requests of a method, whose path matches a pattern, a fault."""
        with self._lock:
            self._rules.append(_Rule(fault, re.compile(path), method, times))

    def clear(self) -> None:
        """Forget all faults and the log."""
        with self._lock:
            self._rules.clear()
            self.log.clear()

    def requests(self, method: str = "", path: str = "") -> list[Seen]:
        """Return the requests of a method whose path matches a pattern."""
        return [one for one in self.log if method in ("", one.method) and re.search(path, one.path)]

    def take(self, method: str, path: str) -> Fault | None:
        """Return the fault of a request, which counts as given."""
        with self._lock:
            for rule in self._rules:
                if rule.fits(method, path):
                    rule.left -= 1
                    return rule.fault
        return None

    def note(self, seen: Seen) -> int:
        """Write a request into the log; return its place there."""
        with self._lock:  # requests that arrive together would get the same place
            self.log.append(seen)
            return len(self.log) - 1

    def wait(self, seconds: float) -> None:
        """Wait, but not when the proxy has been stopped."""
        self._stopped.wait(seconds)

    @property
    def is_stopped(self) -> bool:
        """Whether it has been stopped."""
        return self._stopped.is_set()

    def __enter__(self) -> Self:
        self._server = _Server(("127.0.0.1", 0), functools.partial(_Handler, self))
        serve = self._server.serve_forever
        threading.Thread(target=serve, args=(0.01,), name="fault-proxy", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        self._stopped.set()
        self._server.shutdown()
        self._server.server_close()


class _Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes
    length: str
    """Its Content-Length; that of a HEAD is that of the whole body."""


class _Handler(BaseHTTPRequestHandler):
    """Turns a request into one of the server behind, and spoils what that answers."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def __init__(self, owner: FaultProxy, *connection: Any) -> None:
        self.owner = owner
        super().__init__(*connection)

    def do_GET(self) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        fault = self.owner.take(self.command, self.path)
        begun = time.monotonic()
        place = self.owner.note(Seen(self.command, self.path, headers, begun, 0, fault))
        sent = self.rfile.read(int(headers.get("content-length", 0)))
        spoil = fault or Fault()
        self.owner.wait(spoil.silence)
        if spoil.before is not None:
            spoil.before()
        if spoil.repeat:
            self._send_endless(spoil)
            return
        answer = self._own(spoil) or self._forward(headers, sent, spoil)
        if spoil.reset_after == -1:
            self._reset()
            return
        seen = self.owner.log[place]
        self.owner.log[place] = seen._replace(status=answer.status)
        self._send_head(answer, spoil)
        if self.command != "HEAD":
            self._send_body(answer, spoil)

    do_HEAD = do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815 - http.server looks for them

    def _send_endless(self, fault: Fault) -> None:
        self.close_connection = True
        self.wfile.write(fault.begin)
        while not self.owner.is_stopped:
            self.wfile.write(fault.repeat)
            self.owner.wait(0.1)

    def _own(self, fault: Fault) -> _Answer | None:
        if fault.status is None:
            return None
        return _Answer(fault.status, [], fault.body, str(len(fault.body)))

    def _forward(self, headers: dict[str, str], sent: bytes, fault: Fault) -> _Answer:
        passed = {name: value for name, value in headers.items() if name not in _HOP}
        passed["host"] = headers.get("host", "")
        if fault.ignore_range:
            passed.pop("range", None)
        connection = HTTPConnection(urlsplit(self.owner.upstream).netloc, timeout=60)
        try:
            connection.request(self.command, self.path, sent or None, passed)
            response = connection.getresponse()
            body = response.read()
            kept = [pair for pair in response.getheaders() if pair[0].lower() not in _HOP]
            length = response.getheader("Content-Length") or str(len(body))
            return _Answer(response.status, kept, _flipped(body, response.headers, fault), length)
        finally:
            connection.close()

    def _send_head(self, answer: _Answer, fault: Fault) -> None:
        gone = {name.lower() for name in (*fault.without, *fault.headers)}
        self.send_response_only(answer.status)
        for name, value in [*answer.headers, ("Content-Length", answer.length)]:
            if name.lower() not in gone:
                self.send_header(name, value)
        for name, value in fault.headers.items():
            self.send_header(name, value)
        if "content-length" in gone:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()

    def _send_body(self, answer: _Answer, fault: Fault) -> None:
        ends = [fault.reset_after, fault.cut_after, fault.stall_after]
        end = min(len(answer.body), *(len(answer.body) if at is None else at for at in ends))
        step = 1 if fault.drip else _PIECE
        for start in range(0, end, step):
            self.wfile.write(answer.body[start : min(start + step, end)])
            if fault.drip:
                self.owner.wait(1 / fault.drip)
        if fault.stall_after is not None:
            self.owner.wait(3600)
        if end and (fault.reset_after, fault.cut_after) != (None, None):
            # Clients discard what they have received, and not yet read, when a connection is lost.
            self.owner.wait(_READING)
        if fault.reset_after is not None:
            self._reset()
        elif fault.cut_after is not None:
            self.close_connection = True

    def _reset(self) -> None:
        """Close the connection with RST rather than FIN."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _NO_LINGER)
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Print nothing: `FaultProxy.log` is the log."""


def _flipped(body: bytes, headers: HTTPMessage, fault: Fault) -> bytes:
    """Flip a bit of the byte that `fault` names, if the body has it."""
    if fault.flip is None:
        return body
    found = re.match(r"bytes (\d+)-", headers.get("Content-Range", ""))
    place = fault.flip - (int(found[1]) if found else 0)
    if not 0 <= place < len(body):
        return body
    return body[:place] + bytes([body[place] ^ 1]) + body[place + 1 :]


class _Server(ThreadingHTTPServer):
    """Leaves a connection that is to be reset alone, and ignores clients that go away."""

    def shutdown_request(self, request: Any) -> None:
        # The FIN of a shutdown would come before the RST.
        if request.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8) == _NO_LINGER:
            self.close_request(request)
        else:
            super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)
