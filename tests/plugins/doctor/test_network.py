"""What reaches a server, and what does not, is said with one next step; real servers answer."""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from email.utils import formatdate
from pathlib import Path

import pytest
import trustme
from pytest_httpserver import HTTPServer

from registry.catalog.catalog import Catalog
from registry.plugins.doctor import Observation, network
from registry.plugins.doctor.network import (
    host_observations,
    network_observations,
    origins_of,
    setting_observations,
    token_of,
)
from tests.cli.invocation import write


def settings(**environ: str) -> dict[str, Observation]:
    return {one.name: one for one in setting_observations({"HF_HOME": "/nowhere", **environ})}


def reached(monkeypatch: pytest.MonkeyPatch, **environ: str) -> dict[str, Observation]:
    """Return the observations of requests in an environment, which the client reads by itself."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return {one.name: one for one in network_observations(os.environ)}


def test_token_is_not_shown_but_where_it_is_from(tmp_path: Path) -> None:
    assert settings()["token"].text.startswith("none")
    found = settings(HF_TOKEN="hf_canary")["token"]
    assert (found.status, found.text) == ("ok", "for the Hub, from HF_TOKEN")
    (tmp_path / "token").write_text("hf_canary\n", encoding="utf-8")
    assert token_of({"HF_HOME": str(tmp_path)}) == ("hf_canary", str(tmp_path / "token"))
    moved = tmp_path / "huggingface" / "token"
    moved.parent.mkdir()
    moved.write_text("hf_moved\n", encoding="utf-8")
    assert token_of({"XDG_CACHE_HOME": str(tmp_path)}) == ("hf_moved", str(moved))
    broken = settings(HF_TOKEN="hf_ca nary")["token"]
    assert broken.status == "fail"
    assert "nary" not in broken.text + broken.next


@pytest.mark.parametrize(
    ("endpoint", "status", "text"),
    [
        ("https://hub.example", "ok", "https://hub.example (HF_ENDPOINT)"),
        ("https://u:canary@hub.example", "ok", "https://hub.example (HF_ENDPOINT)"),
        ("http://hub.example", "warn", "http://hub.example (HF_ENDPOINT), without encryption"),
        ("http://localhost:80", "ok", "http://localhost:80 (HF_ENDPOINT)"),
        ("hub.example", "fail", "HF_ENDPOINT is not a URL: hub.example"),
        ("https://host:port", "fail", "HF_ENDPOINT is not a URL: https://host:port"),
    ],
)
def test_endpoint_is_checked(endpoint: str, status: str, text: str) -> None:
    found = settings(HF_ENDPOINT=endpoint)["endpoint"]
    assert (found.status, found.text) == (status, text)


def test_proxies_are_shown_without_credentials() -> None:
    found = settings(https_proxy="http://u:canary@proxy:3128", NO_PROXY="localhost")["proxy"]
    assert (found.status, found.text) == ("ok", "HTTPS_PROXY=http://proxy:3128, not for localhost")
    environ = {"HF_HOME": "/nowhere", "HTTP_PROXY": "http://a:1", "http_proxy": "http://b:1"}
    first, *_ = [one for one in setting_observations(environ) if one.name == "proxy"]
    assert (first.status, first.next) == ("warn", "unset HTTP_PROXY or http_proxy")
    environ = {"HF_HOME": "/nowhere", "HTTP_PROXY": "http://:1"}
    first, *_ = [one for one in setting_observations(environ) if one.name == "proxy"]
    assert first.status == "fail"


def test_certificates_are_loaded(tmp_path: Path) -> None:
    authority = tmp_path / "authority.pem"
    trustme.CA().cert_pem.write_to_path(str(authority))
    found = settings(SSL_CERT_FILE=str(authority))["certificates"]
    assert (found.status, found.text) == ("ok", f"1 trusted certificate in {authority}")
    missing = settings(REQUESTS_CA_BUNDLE="/nowhere.pem")["certificates"]
    assert (missing.status, missing.next) == ("fail", "unset REQUESTS_CA_BUNDLE")
    authority.write_text("no certificate", encoding="utf-8")
    assert settings(SSL_CERT_FILE=str(authority))["certificates"].status == "fail"


@pytest.fixture
def hub(httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> HTTPServer:
    monkeypatch.setenv("HF_ENDPOINT", httpserver.url_for("").rstrip("/"))
    return httpserver


def test_hub_that_answers_is_fine(hub: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.expect_request("/api/datasets").respond_with_json([])
    found = reached(monkeypatch)
    assert found["hub"].status == found["clock"].status == "ok"


def test_token_is_tried(hub: HTTPServer, monkeypatch: pytest.MonkeyPatch) -> None:
    good = {"Authorization": "Bearer hf_canary"}
    hub.expect_request("/api/whoami-v2", headers=good).respond_with_json({"name": "me"})
    found = reached(monkeypatch, HF_TOKEN="hf_canary")["hub"]
    assert found.text.endswith(", and takes the token")
    hub.clear()
    hub.expect_request("/api/whoami-v2").respond_with_json({}, status=401)
    found = reached(monkeypatch)["hub"]
    assert (found.status, found.next) == ("fail", "hf auth login, or set HF_TOKEN")


def test_login_page_of_a_network_is_recognized(
    hub: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.expect_request("/api/datasets").respond_with_data("<html>", content_type="text/html")
    found = reached(monkeypatch)["hub"]
    assert found.status == "fail"
    assert "sent a page in place of data (status 200)" in found.text
    hub.clear()
    hub.expect_request("/api/datasets").respond_with_json({}, status=503)
    assert "answers with status 503" in reached(monkeypatch)["hub"].text


def test_names_and_ports_that_nobody_has(monkeypatch: pytest.MonkeyPatch) -> None:
    found = reached(monkeypatch, HF_ENDPOINT="https://nobody.invalid")["hub"]
    assert found.status == "warn"
    assert found.text == "no address is known for nobody.invalid"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    found = reached(monkeypatch, HF_ENDPOINT=url)["hub"]
    assert (found.status, found.text) == ("warn", f"{url[7:]} refuses the connection")


class Listener:
    """A server that reads what is sent and gives one answer, or none."""

    def __init__(self, answer: bytes, context: ssl.SSLContext | None = None) -> None:
        self.answer, self.context, self.seen = answer, context, b""
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def close(self) -> None:
        """Take no more connections, and close the one that is open."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes who waits in accept()
        self.thread.join(5)
        assert not self.thread.is_alive()
        self.socket.close()

    def _serve(self) -> None:
        with ExitStack() as held:  # a connection that gets no answer stays open until the end
            while True:
                try:
                    connection = self.socket.accept()[0]
                except OSError:
                    return
                with suppress(OSError):
                    if self.context is not None:
                        connection = self.context.wrap_socket(connection, server_side=True)
                    held.enter_context(connection)
                    self.seen += connection.recv(65536)
                    if self.answer:
                        connection.sendall(self.answer)
                        connection.close()


@pytest.fixture
def listeners() -> Iterator[list[Listener]]:
    made: list[Listener] = []
    yield made
    for one in made:
        one.close()


def test_proxy_that_wants_a_password_is_recognized(
    listeners: list[Listener], monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    listeners.append(Listener(answer))
    proxy = f"http://u:canary@127.0.0.1:{listeners[0].port}"
    found = reached(monkeypatch, HF_ENDPOINT="https://hub.example", HTTPS_PROXY=proxy)["hub"]
    assert listeners[0].seen.startswith(b"CONNECT hub.example:443")
    assert found.text == "the proxy asks for a login, 407"
    assert found.next == "put it into HTTPS_PROXY: http://USER:PASSWORD@HOST:PORT"
    assert found.status == "fail"


def test_clock_is_compared_with_that_of_the_server(
    listeners: list[Listener], monkeypatch: pytest.MonkeyPatch
) -> None:
    head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
    listeners.append(Listener(f"{head}Date: {formatdate(1_000_000_000)}\r\n\r\n[]".encode()))
    url = f"http://127.0.0.1:{listeners[0].port}"
    clock = reached(monkeypatch, HF_ENDPOINT=url)["clock"]
    assert clock.status == "warn"
    assert clock.text.endswith(" s fast")
    listeners.append(Listener(f"{head}Date: today\r\n\r\n[]".encode()))
    url = f"http://127.0.0.1:{listeners[1].port}"
    assert "clock" not in reached(monkeypatch, HF_ENDPOINT=url)


def test_certificate_of_a_stranger_is_recognized(
    listeners: list[Listener], monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("localhost").configure_cert(context)
    listeners.append(Listener(b"", context))
    url = f"https://localhost:{listeners[0].port}"
    found = reached(monkeypatch, HF_ENDPOINT=url)["hub"]
    assert found.text == f"the certificate of {url[8:]} is not trusted"
    assert found.status == "fail"
    assert "SSL_CERT_FILE" in found.next


def test_silent_server_is_not_waited_for(
    listeners: list[Listener], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "_SECONDS", 1)
    listeners.append(Listener(b""))
    url = f"http://127.0.0.1:{listeners[0].port}"
    found = reached(monkeypatch, HF_ENDPOINT=url)["hub"]
    assert found.status == "warn"
    assert found.text.startswith((f"no answer from {url}", f"{url} can't be reached"))


def test_remote_cache_is_asked(
    hub: HTTPServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.expect_request("/api/datasets").respond_with_json([])
    assert reached(monkeypatch)["remote cache"].text.startswith("none")
    folder = tmp_path / "shared"
    missing = reached(monkeypatch, REGISTRY_REMOTE_CACHE=str(folder))["remote cache"]
    assert (missing.status, missing.next) == ("warn", "create it, or mount its file system")
    folder.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    for place in (str(folder), folder.as_uri(), "~/shared"):
        found = reached(monkeypatch, REGISTRY_REMOTE_CACHE=place)["remote cache"]
        text = f"{place} answers; trusted: what datasets.lock proves"
        assert (found.status, found.text) == ("ok", text)
    unknown = reached(monkeypatch, REGISTRY_REMOTE_CACHE="nothing://u:canary@b/x")["remote cache"]
    assert (unknown.status, unknown.text) == ("fail", "nothing://b/x can't be read (CacheError)")
    package = reached(monkeypatch, REGISTRY_REMOTE_CACHE="package:nothing/x")["remote cache"]
    assert package.text == "package:nothing/x can't be read (MissingDependencyError)"
    silent = reached(monkeypatch, REGISTRY_REMOTE_CACHE="http://u:canary@127.0.0.1:1/x")
    text = "http://127.0.0.1:1/x can't be read (ClientConnectorError)"
    assert (silent["remote cache"].status, silent["remote cache"].text) == ("fail", text)
    named = reached(monkeypatch, REGISTRY_REMOTE_TRUST="ci")["remote cache"]
    assert (named.status, "REGISTRY_REMOTE_KEY_CI" in named.text) == ("fail", True)


def catalog_of(folder: Path, *paths: str) -> Catalog:
    lines = [
        f"  d{number}: {{source: {{type: csv, path: {path!r}}}}}\n"
        for number, path in enumerate(paths)
    ]
    write(folder, "qa", f"datasets:\n{''.join(lines)}")
    return Catalog.open()


def found(catalog: Catalog) -> list[Observation]:
    return list(host_observations(catalog))


def test_servers_are_counted_once_and_only_those_that_may_be_reached(own: Path) -> None:
    catalog = catalog_of(
        own,
        "https://data.example/a.csv",
        "https://data.example/b.csv?token=canary",
        "zip://a.csv::https://zip.example:8443/a.zip",
        "http://plain.example/a.csv",
        "https://10.0.0.7/a.csv",
        "s3://bucket/a.csv",
        "qa.csv",
    )
    assert dict(origins_of(catalog)) == {"https://data.example": 2, "https://zip.example:8443": 1}


def test_servers_of_all_that_a_dataset_reads_are_counted(own: Path) -> None:
    def source(name: str) -> str:
        return f"{{type: csv, path: ['qa.csv', 'https://{name}.example/a.csv']}}"

    write(
        own,
        "qa",
        f"""
datasets:
  one:
    concat: [{source("first")}, {source("second")}]
    join: {{source: {source("joined")}, on: q, into: more}}
  two:
    source: {source("common")}
    splits: {{dev: {{}}, test: {{path: 'https://split.example/a.csv'}}}}
    default_split: test
""",
    )
    names = ("first", "second", "joined", "common", "split")
    assert origins_of(Catalog.open()) == {f"https://{name}.example": 1 for name in names}


def test_catalog_without_servers_asks_nobody(own: Path) -> None:
    assert found(catalog_of(own, "qa.csv")) == []


def test_any_answer_counts_and_silence_is_a_warning(own: Path, httpserver: HTTPServer) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        closed = f"http://127.0.0.1:{free.getsockname()[1]}"
    url = httpserver.url_for("/a.csv")
    fine, silent = found(catalog_of(own, url, f"{closed}/a.csv"))
    assert (fine.status, fine.text) == ("ok", "1 of 2 servers answer")
    assert silent.status == "warn"
    assert silent.text == f"{closed}: {closed[7:]} refuses the connection, 1 dataset"


def test_names_that_nobody_has(own: Path) -> None:
    (silent,) = found(catalog_of(own, "https://nobody.invalid/a.csv"))
    assert silent.text == (
        "https://nobody.invalid: no address is known for nobody.invalid, 1 dataset"
    )


def test_server_that_is_silent_is_not_waited_for(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/a.csv"
        (silent,) = found(catalog_of(own, url))
    assert "no answer in" in silent.text


def test_few_servers_are_asked(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "_MOST", 1)
    names = ("b", "a", "a", "c")
    (silent,) = found(catalog_of(own, *(f"https://{name}.invalid/x.csv" for name in names)))
    assert silent.text.startswith("https://a.invalid: ")
    assert silent.text.endswith("2 datasets")
