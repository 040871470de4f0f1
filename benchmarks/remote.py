"""How much of a large file on S3 is read for its first samples: moto, and a proxy that counts."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from benchmarks.catalogs import REMOTE
from registry import get_dataset

__all__ = ["share_read"]

_LIMIT = 100
_CHUNK = 1 << 16
# moto checks no signature, but lets only those with one write.
_ANYONE = "AWS4-HMAC-SHA256 Credential=benchmark/20240101/us-east-1/s3/aws4_request"
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
