"""Large remote files: what is read of one on S3 for its first samples, how long a far one takes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from benchmarks.catalogs import REMOTE
from benchmarks.clock import seconds
from registry import get_dataset
from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED, Limits
from registry.progress import silent
from registry.sources.filesystem import FilesystemPool
from registry.sources.transfer import Transfer

__all__ = ["far", "far_at_once", "serve_far", "share_read"]

_LIMIT = 100
_CHUNK = 1 << 16
# moto checks no signature, but lets only those with one write.
_ANYONE = "AWS4-HMAC-SHA256 Credential=benchmark/20240101/us-east-1/s3/aws4_request"
_LATENCY = 0.05
"""Seconds until a far server answers a request, or takes a connection."""
_RATE = 20e6
"""Bytes per second that it sends by one connection."""
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding"}


def share_read(*, file: str) -> float:
    """Return the share of a remote file's bytes that a limit of 100 fetches."""
    with _moto() as server:
        _put(server, Path(file))
        with _counting(server) as (proxy, count):
            os.environ.update(_environment(proxy))
            dataset = get_dataset("remote")
    if len(dataset) != _LIMIT:
        raise ValueError(f"{REMOTE}: {len(dataset)} samples, expected {_LIMIT}")
    return count() / Path(file).stat().st_size


def _environment(proxy: str) -> dict[str, str]:
    return {
        "AWS_ACCESS_KEY_ID": "benchmark",
        "AWS_SECRET_ACCESS_KEY": "benchmark",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": f"http://{proxy}",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


@contextlib.contextmanager
def _moto() -> Iterator[str]:
    """Run an S3 server in a process of its own; give its host and port."""
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[str]) -> str:
    """Wait until the server says where it listens, and read on so that it never blocks."""
    stderr = process.stderr
    said: list[str] = []
    for line in stderr or ():
        said.append(line)
        found = re.search(r"Running on http://(127\.0\.0\.1:\d+)", line)
        if found:
            threading.Thread(target=lambda: list(stderr or ()), daemon=True).start()
            return found[1]
    raise RuntimeError(f"moto did not start: {''.join(said)}")


def _put(server: str, file: Path) -> None:
    bucket = "/" + REMOTE.removeprefix("s3://").partition("/")[0]
    _ask(server, bucket)
    with file.open("rb") as body:
        length = {"Content-Length": str(file.stat().st_size)}
        _ask(server, "/" + REMOTE.removeprefix("s3://"), body, length)


def _ask(server: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> None:
    connection = HTTPConnection(server, timeout=600)
    with contextlib.closing(connection):
        connection.request("PUT", path, body, {"Authorization": _ANYONE, **(headers or {})})
        response = connection.getresponse()
        answer = response.read()
    if response.status >= 300:
        raise RuntimeError(f"PUT {path}: moto answered {response.status}: {answer!r}")


@contextlib.contextmanager
def _counting(server: str) -> Iterator[tuple[str, Callable[[], int]]]:
    """Run a proxy before a server; give its address and how many bytes of bodies it passed on."""
    counts: list[int] = []
    handler = type("Handler", (_Proxy,), {"server_address": server, "counts": counts})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as proxy:
        threading.Thread(target=proxy.serve_forever, daemon=True).start()
        try:
            yield f"127.0.0.1:{proxy.server_port}", lambda: sum(counts)
        finally:
            proxy.shutdown()


class _Proxy(BaseHTTPRequestHandler):
    """Passes requests on, and counts what it sends back."""

    protocol_version = "HTTP/1.1"
    server_address: str
    counts: list[int]

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _pass_on(self) -> None:
        connection = HTTPConnection(self.server_address, timeout=600)
        with contextlib.closing(connection):
            connection.request(self.command, self.path, headers=dict(self.headers.items()))
            self._answer(connection.getresponse())

    do_GET = do_HEAD = _pass_on  # noqa: N815 (the names that http.server calls)

    def _answer(self, response: HTTPResponse) -> None:
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, value)
        self.end_headers()
        # A client that has enough closes the connection: what it never took is not counted.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while chunk := response.read(_CHUNK):
                self.wfile.write(chunk)
                self.counts.append(len(chunk))


def far(*, file: str) -> float:
    """Return the seconds that a file takes from a far server to the disk, with its digest."""
    with _far_server(file) as url, tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "download")
        pool = FilesystemPool({}, UNBOUNDED)
        transfer = Transfer(Location(url), pool, path, limits=Limits(), report=silent)
        return seconds(transfer.run)


def far_at_once(*, file: str) -> float:
    """Return the seconds that the same takes by one connection and Python's own client."""

    def fetch() -> None:
        digest = hashlib.sha256()
        with urlopen(url) as response, Path(folder, "download").open("wb") as written:  # noqa: S310
            while chunk := response.read(_CHUNK):
                digest.update(chunk)
                written.write(chunk)

    with _far_server(file) as url, tempfile.TemporaryDirectory() as folder:
        return seconds(fetch)


@contextlib.contextmanager
def _far_server(file: str) -> Iterator[str]:
    """Run a far server in a process of its own; give the URL of its file."""
    program = f"from benchmarks.remote import serve_far; serve_far({file!r})"
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None  # noqa: S101 (it is a pipe)
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/"
        finally:
            process.terminate()


def serve_far(file: str) -> None:
    """Serve a file until the process ends; print the port."""
    with ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Far,), {"file": file})) as server:
        sys.stdout.write(f"{server.server_port}\n")
        sys.stdout.flush()
        server.serve_forever()


class _Far(BaseHTTPRequestHandler):
    """Answers late, and sends a file slowly, or a part of it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    file: str

    def setup(self) -> None:
        """Take a connection."""
        time.sleep(_LATENCY)
        # More would be sent to the system at once, whatever the rate.
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 18)
        super().setup()

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer."""
        time.sleep(_LATENCY)
        size = Path(self.file).stat().st_size
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = (int(found[1]), int(found[2])) if found else (0, size - 1)
        self.send_response(206 if found else 200)
        if found:
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        for name, value in {"ETag": '"1"', "Accept-Ranges": "bytes"}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(last + 1 - first))
        self.end_headers()
        self.wfile.flush()
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            self._send(first, last + 1)

    def _send(self, start: int, stop: int) -> None:
        begun = time.monotonic()
        with Path(self.file).open("rb") as opened:
            for at in range(start, stop, _CHUNK):
                count = min(_CHUNK, stop - at)
                self.connection.sendfile(opened, at, count)
                due = begun + (at + count - start) / _RATE
                time.sleep(max(0, due - time.monotonic()))
