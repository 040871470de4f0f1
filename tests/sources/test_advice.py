"""What to do about a server that was not reached, tried with real servers and clients."""

from __future__ import annotations

import os
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trustme

from registry import get_dataset
from registry.errors import SourceError
from registry.sources.retry import hub_host
from tests.conftest import OneDataset, permit

PAGE = b"<!DOCTYPE html>\n<html><title>Sign in to Hotel WiFi</title></html>\n"
OFFLINE = "REGISTRY_OFFLINE=1 uses what is cached"
SIGN_IN = "a proxy, or a network with a sign-in page, may have answered in its place: open the URL in a browser"

pytestmark = pytest.mark.usefixtures("asked_once")


class Answer(BaseHTTPRequestHandler):
    """Gives the same answer to every request."""

    status = 200
    body = PAGE
    content_type = "text/html; charset=utf-8"

    def answer(self) -> None:
        self.send_response(self.status)
        self.send_header("Content-Type", self.content_type)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(self.body)

    do_GET = do_HEAD = do_CONNECT = do_POST = answer  # noqa: N815 -- names of http.server

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(*, context: ssl.SSLContext | None = None, **answer: object) -> Iterator[int]:
    """Run a server with an answer; yield its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Answer,), answer))
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def message_of(root: Path) -> str:
    with pytest.raises(SourceError) as caught:
        get_dataset("data", root=root)
    return str(caught.value)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def test_name_without_an_address(one_dataset: OneDataset) -> None:
    root = one_dataset({"type": "csv", "path": "https://no-such-host.invalid/x.csv"})
    assert message_of(root) == (
        "https://no-such-host.invalid/x.csv: no address is known for no-such-host.invalid"
        f" (check the network and the name; {OFFLINE})"
    )


def test_refused_connection(one_dataset: OneDataset) -> None:
    port = free_port()
    root = one_dataset({"type": "csv", "path": f"http://127.0.0.1:{port}/x.csv"})
    permit(root, hosts=["127.0.0.1"])
    assert message_of(root) == (
        f"http://127.0.0.1:{port}/x.csv: 127.0.0.1:{port} refuses the connection"
        f" (check the port, and that a server runs there; {OFFLINE})"
    )


def test_variable_for_proxies_that_is_not_used_is_named(
    one_dataset: OneDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://me:planted@proxy.invalid:3128")
    root = one_dataset({"type": "csv", "path": "https://no-such-host.invalid/x.csv"})
    message = message_of(root)
    assert "HTTPS_PROXY is used for URLs only with `fs_options: {client_kwargs:" in message
    assert "planted" not in message


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (407, "the proxy asks for a login, 407 (put it into HTTPS_PROXY: http://USER:PASSWORD@HOST:PORT)"),
        (403, "the proxy can't be reached, or refuses example.com (check HTTPS_PROXY; NO_PROXY lists hosts that need none; REGISTRY_OFFLINE=1 uses what is cached)"),
    ],
)  # fmt: skip
def test_proxy_that_refuses_to_connect(one_dataset: OneDataset, status: int, expected: str) -> None:
    with serving(status=status) as port:
        proxy = f"http://127.0.0.1:{port}"
        source = {"type": "csv", "path": "https://example.com/x.csv"}
        root = one_dataset({**source, "fs_options": {"proxy": proxy}})
        permit(root, hosts=["127.0.0.1", "example.com"])
        assert message_of(root) == f"https://example.com/x.csv: {expected}"


def test_certificate_of_an_unknown_authority(one_dataset: OneDataset) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with serving(context=context) as port:
        root = one_dataset({"type": "csv", "path": f"https://127.0.0.1:{port}/x.csv"})
        permit(root, hosts=["127.0.0.1"])
        assert message_of(root) == (
            f"https://127.0.0.1:{port}/x.csv: the certificate of 127.0.0.1:{port} is not trusted (if a"
            " proxy inspects TLS, SSL_CERT_FILE names a file with its authority's certificate)"
        )


def test_host_of_the_hub_is_the_endpoint_without_a_password() -> None:
    assert hub_host({}) == "huggingface.co"
    assert hub_host({"HF_ENDPOINT": "https://me:planted@hub.example:8080/x"}) == "hub.example:8080"


def hub_error(folder: Path, **environment: str) -> str:
    """Return what a process, whose client of the Hub is made for an environment, reports."""
    text = "datasets: {data: {source: {type: hf, path: a/b, split: test}}}\n"
    (folder / "datasets.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if name != "NO_PROXY"}
    done = subprocess.run(
        [sys.executable, "-I", "-m", "registry", "sync", "data"],
        cwd=folder,
        env={**kept, "REGISTRY_DEADLINE": "0", **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 1
    return done.stderr.splitlines()[-1]


def test_hub_behind_proxies_and_sign_in_pages(tmp_path: Path) -> None:
    with serving(status=407) as port:
        proxy = {"HTTPS_PROXY": f"http://me:planted@127.0.0.1:{port}"}
        error = hub_error(tmp_path, HF_ENDPOINT="https://hub.invalid", **proxy)
    assert error.startswith("error: data: a/b: the proxy asks for a login, 407 (put it into")

    proxy = {"HTTPS_PROXY": f"http://me:planted@127.0.0.1:{port}"}  # where nothing runs now
    error = hub_error(tmp_path, HF_ENDPOINT="https://hub.invalid", **proxy)
    assert error.startswith(
        f"error: data: a/b: the proxy 127.0.0.1:{port} can't be reached, or refuses hub.invalid ("
    )
    error = hub_error(tmp_path, HF_ENDPOINT="https://hub.invalid")
    assert error == (
        "error: data: a/b: no address is known for hub.invalid"
        f" (check the network and the name; {OFFLINE})"
    )
    with serving() as port:
        error = hub_error(tmp_path, HF_ENDPOINT=f"http://127.0.0.1:{port}")
    assert error == f"error: data: a/b: the answer of 127.0.0.1:{port} is not the Hub's ({SIGN_IN})"
