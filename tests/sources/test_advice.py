"""What to do about a server that was not reached, tried with real servers and clients."""

from __future__ import annotations

import socket
import ssl
from pathlib import Path

import pytest
import trustme
from pytest_httpserver import HTTPServer

from registry import get_dataset
from registry.errors import SourceError
from registry.sources.retry import hub_host
from tests.command_line import run
from tests.conftest import OneDataset, permit
from tests.servers.recorder import Recorder

PAGE = b"<!DOCTYPE html>\n<html><title>Sign in to Hotel WiFi</title></html>\n"
OFFLINE = "REGISTRY_OFFLINE=1 uses what is cached"
SIGN_IN = "a proxy, or a network with a sign-in page, may have answered in its place: open the URL in a browser"

pytestmark = pytest.mark.usefixtures("asked_once")


def message_of(root: Path) -> str:
    with pytest.raises(SourceError) as caught:
        get_dataset("data", root=root)
    return str(caught.value)


def test_name_without_an_address(one_dataset: OneDataset) -> None:
    root = one_dataset({"type": "csv", "path": "https://no-such-host.invalid/x.csv"})
    assert message_of(root) == (
        "https://no-such-host.invalid/x.csv: no address is known for no-such-host.invalid"
        f" (check the network and the name; {OFFLINE})"
    )


def test_refused_connection(one_dataset: OneDataset) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
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
    with Recorder(status=status) as server:
        source = {"type": "csv", "path": "https://example.com/x.csv"}
        root = one_dataset({**source, "fs_options": {"proxy": server.url("")}})
        permit(root, hosts=["127.0.0.1", "example.com"])
        assert message_of(root) == f"https://example.com/x.csv: {expected}"


def test_certificate_of_an_unknown_authority(one_dataset: OneDataset) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    with HTTPServer(host="127.0.0.1", ssl_context=context) as server:
        place = f"127.0.0.1:{server.port}"
        root = one_dataset({"type": "csv", "path": f"https://{place}/x.csv"})
        permit(root, hosts=["127.0.0.1"])
        assert message_of(root) == (
            f"https://{place}/x.csv: the certificate of {place} is not trusted (if a"
            " proxy inspects TLS, SSL_CERT_FILE names a file with its authority's certificate)"
        )


def test_host_of_the_hub_is_the_endpoint_without_a_password() -> None:
    assert hub_host({}) == "huggingface.co"
    assert hub_host({"HF_ENDPOINT": "https://me:planted@hub.example:8080/x"}) == "hub.example:8080"


def hub_error(folder: Path, **environment: str) -> str:
    """Return what a process, whose client of the Hub is made for an environment, reports."""
    text = "datasets: {data: {source: {type: hf, path: a/b, split: test}}}\n"
    (folder / "datasets.yaml").write_text(f"version: 1\n{text}", encoding="utf-8")
    settings = {"NO_PROXY": "", "REGISTRY_DEADLINE": "0", **environment}
    done = run(folder, "sync", "data", environment=settings)
    assert done.code == 1
    return done.err.splitlines()[-1]


def test_hub_behind_proxies_and_sign_in_pages(tmp_path: Path) -> None:
    away = {"HF_ENDPOINT": "https://hub.invalid"}
    with Recorder(status=407) as server:
        place = f"127.0.0.1:{server.port}"
        proxy = {"HTTPS_PROXY": f"http://me:planted@{place}"}
        error = hub_error(tmp_path, **away, **proxy)
    assert error.startswith("error: data: a/b: the proxy asks for a login, 407 (put it into")

    error = hub_error(tmp_path, **away, **proxy)  # where nothing runs now
    assert error.startswith(
        f"error: data: a/b: the proxy {place} can't be reached, or refuses hub.invalid ("
    )
    error = hub_error(tmp_path, **away)
    assert error == (
        "error: data: a/b: no address is known for hub.invalid"
        f" (check the network and the name; {OFFLINE})"
    )
    with Recorder(body=PAGE) as server:
        error = hub_error(tmp_path, HF_ENDPOINT=server.url(""))
    place = f"127.0.0.1:{server.port}"
    assert error == f"error: data: a/b: the answer of {place} is not the Hub's ({SIGN_IN})"
