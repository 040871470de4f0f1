"""Who may ask the server, and what a client that is no browser gets."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from registry import get_dataset
from registry.errors import RegistryError
from registry.plugins.browse.live_catalog import POLICY, LiveCatalog
from registry.plugins.browse.server import HEADERS, Gate, application, free_socket, serving
from registry.settings import Settings
from tests.plugins.browse.catalogs import MANIFEST, write_catalog

GATE = Gate(8321, "secret")


def test_every_server_has_a_secret_of_its_own_that_no_message_shows() -> None:
    first, second = Gate(1), Gate(1)
    assert first.session != second.session
    assert len(first.session) >= 40
    token = first.new_url().removeprefix("http://127.0.0.1:1/?token=")
    assert len(token) >= 40
    assert not {first.session, token} & set(repr(first).replace("'", " ").split())
    assert first.session != token


def test_each_address_lets_in_once() -> None:
    gate = Gate(1)
    tokens = [gate.new_url().partition("=")[2] for _ in range(2)]
    assert not gate.admit(tokens[0][:-1])
    assert not gate.admit(gate.session)
    assert [gate.admit(token) for token in tokens] == [True, True]
    assert [gate.admit(token) for token in tokens] == [False, False]


@pytest.mark.parametrize("host", ["127.0.0.1:8321", "localhost:8321"])
def test_names_of_this_machine_are_answered(host: str) -> None:
    assert GATE.refusal("GET", [host], "secret") is None
    assert GATE.refusal("HEAD", [host], "secret") is None


HOST = "127.0.0.1:8321"
OTHER_HOSTS = [
    *([], ["evil.example:8321"], ["127.0.0.1.evil.example:8321"], ["127.0.0.1:80"], ["127.0.0.1"]),
    *([HOST, "evil.example"], [f"{HOST}, evil.example"]),
]


@pytest.mark.parametrize(
    ("method", "hosts", "cookie", "status"),
    [
        *(("GET", hosts, "secret", 403) for hosts in OTHER_HOSTS),
        *(("GET", [HOST], one, 403) for one in (None, "", "secre", "secret2", "sécret", "\udcff")),
        *((one, [HOST], "secret", 405) for one in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH")),
    ],
)
def test_other_requests_are_refused(
    method: str, hosts: list[str], cookie: str | None, status: int
) -> None:
    refused = GATE.refusal(method, hosts, cookie)
    assert refused is not None
    assert refused.status == status
    assert "secret" not in refused.reason
    hint = "open the address that `registry browse` printed; it works once"
    assert (hint in refused.reason) == (cookie != "secret")


def test_headers_allow_no_other_origin() -> None:
    assert not [name for name in HEADERS if name.startswith("Access-Control")]
    assert "frame-ancestors 'none'" in HEADERS["Content-Security-Policy"]
    assert POLICY.startswith("default-src 'none';")
    assert "unsafe" not in POLICY


Answer = tuple[int, dict[str, str], str]


class Client:
    """Asks a server, by default as its browser does."""

    def __init__(self, gate: Gate, manifest: Path) -> None:
        self.gate = gate
        self.manifest = manifest

    def open(self, path: str, method: str = "GET", **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self.gate.port, timeout=20)
        # Then the socket is the answer's, and is closed with it.
        given = {
            "Connection": "close",
            "Cookie": f"{self.gate.cookie}={self.gate.session}",
        } | headers
        connection.request(method, path, headers={key: one for key, one in given.items() if one})
        return connection.getresponse()

    def ask(self, path: str, method: str = "GET", **headers: str) -> Answer:
        with self.open(path, method, **headers) as response:
            return response.status, dict(response.getheaders()), response.read().decode()

    def events(self, path: str) -> str:
        """Return the path of the events that the page at a path listens to."""
        query = self.ask(path)[2].partition("live.js?")[2].partition('"')[0]
        return f"/events?{query.replace('&amp;', '&')}"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """Serve a catalog in a thread."""
    manifest = write_catalog(tmp_path / "catalog")
    live = LiveCatalog(Settings.from_environment(root=manifest.parent))
    loop = asyncio.new_event_loop()
    stop, started = asyncio.Event(), threading.Event()
    with free_socket(0) as listening:
        gate = Gate(listening.getsockname()[1])

        async def serve() -> None:
            async with serving(application(live, gate), listening):
                started.set()
                await stop.wait()

        thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
        thread.start()
        assert started.wait(20)
        yield Client(gate, manifest)
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        assert not thread.is_alive()
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


@pytest.mark.parametrize(
    ("path", "kind", "text"),
    [
        ("/", "text/html", "Questions about planets."),
        ("/index.html", "text/html", "Questions about planets."),
        ("/datasets/planets.html", "text/html", "Which has rings?"),
        ("/samples/planets@2.html", "text/html", "Which has rings?"),
        ("/search/0.js", "text/javascript", "registryRows("),
        ("/assets/registry.css", "text/css", ":root"),
        ("/assets/live.js?name=x", "text/javascript", "EventSource"),
    ],
)
def test_pages_are_served_with_headers_that_protect_them(
    path: str, kind: str, text: str, client: Client
) -> None:
    status, headers, body = client.ask(path)
    assert (status, headers["Content-Type"]) == (200, f"{kind}; charset=utf-8")
    assert text in body
    assert HEADERS.items() <= headers.items()


def test_token_of_the_url_gives_once_a_cookie_that_no_script_and_no_other_site_has(
    client: Client,
) -> None:
    path = client.gate.new_url().partition(str(client.gate.port))[2]
    status, headers, body = client.ask(path, Cookie="")
    cookie = f"{client.gate.cookie}={client.gate.session}; HttpOnly; Path=/; SameSite=Strict"
    assert (status, headers["Set-Cookie"]) == (200, cookie)
    assert path.partition("=")[2] not in body
    assert "url=/" in body
    status, headers, body = client.ask(path, Cookie="")
    assert (status, "Set-Cookie" in headers) == (403, False)
    status, _, body = client.ask(path)
    assert (status, "Questions about planets." in body) == (200, True)


@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        ("/", "GET", {"Cookie": ""}, 403),
        ("/?token=wrong", "GET", {"Cookie": ""}, 403),
        ("/assets/registry.css", "GET", {"Cookie": ""}, 403),
        ("/events", "GET", {"Cookie": ""}, 403),
        ("/", "GET", {"Host": "evil.example"}, 403),
        ("/", "POST", {}, 405),
        ("/", "OPTIONS", {"Origin": "http://evil.example"}, 405),
        ("/datasets/nothing.html", "GET", {}, 404),
        ("/samples/planets@0.html", "GET", {}, 404),
        ("/samples/planets@99999999999999999.html", "GET", {}, 404),
        ("/samples/nothing@21.html", "GET", {}, 404),
        ("/../datasets.yaml", "GET", {}, 404),
        ("/m.yaml", "GET", {}, 404),
        ("/datasets/..%2Fm.yaml.html", "GET", {}, 404),
        ("/assets/..%2F..%2Fpages%2Fassets.py", "GET", {}, 404),
        ("/assets/%2Fetc%2Fpasswd", "GET", {}, 404),
        ("/%00", "GET", {}, 404),
    ],
)
def test_everything_else_is_refused(
    path: str, method: str, headers: dict[str, str], status: int, client: Client
) -> None:
    found, given, body = client.ask(path, method, **headers)
    assert found == status
    assert HEADERS.items() <= given.items()
    assert not [name for name in given if name.startswith("Access-Control")]
    assert "Set-Cookie" not in given
    assert len(body) < 100


def test_change_of_a_manifest_is_told_to_its_page(client: Client) -> None:
    with client.open(client.events("/datasets/planets.html")) as events:
        assert events.getheader("Content-Type") == "text/event-stream"
        assert events.readline() == b": no change\n"
        client.manifest.write_text(MANIFEST.replace("space", "sky"), encoding="utf-8")
        assert events.readline() == b"\n"
        assert events.readline() == b"event: changed\n"
    assert "sky" in client.ask("/datasets/planets.html")[2]


def test_old_state_is_told_at_once(client: Client) -> None:
    answer = client.ask("/events?name=planets&state=old")
    assert answer[2] == "event: changed\ndata: \n\n"


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            ZeroDivisionError("so\x1b[31m"),
            "unexpected ZeroDivisionError: so\\u{1b}[31m. This is a bug",
        ),
        (RegistryError("so\x1b[31m"), "so\\u{1b}[31m\n"),
    ],
)
def test_error_is_an_answer_and_the_server_goes_on(
    error: Exception, text: str, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(live: LiveCatalog, name: str, first: int, **_: bool) -> str:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(LiveCatalog, "dataset_page", fail)
        status, headers, body = client.ask("/datasets/planets.html")
    assert (status, headers["Content-Type"]) == (500, "text/plain; charset=utf-8")
    assert body.startswith(text)
    assert client.ask("/datasets/planets.html")[0] == 200


@pytest.mark.parametrize(
    "request_",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 20_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nCookie: registry=\x01SECRET\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00",
    ],
    ids=["long", "odd", "tls"],
)
def test_what_is_no_request_is_refused_without_a_traceback(
    client: Client, request_: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_connection(("127.0.0.1", client.gate.port), timeout=20) as connection:
        connection.sendall(request_)
        assert connection.recv(100).startswith(b"HTTP/1.0 400 ")
    assert client.ask("/")[0] == 200
    assert not caplog.records


def test_pages_do_not_wait_while_the_states_of_all_datasets_are_counted(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    def count(live: LiveCatalog, state: str) -> str:
        assert go_on.wait(20)
        return "7 datasets"

    monkeypatch.setattr(LiveCatalog, "summary", count)
    events = client.events("/")
    tabs = [client.open(events) for _ in range(40)]
    assert client.ask("/datasets/planets.html")[0] == 200
    go_on.set()
    for tab in tabs:
        with tab:
            lines = iter(tab.readline, b"")
            assert b"event: summary\n" in lines
            assert next(lines) == b"data: 7 datasets\n"


def test_numbers_are_counted_again_after_an_interruption_and_not_for_an_old_state(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = iter([None, "7 datasets"])
    asked: list[str] = []

    def count(live: LiveCatalog, state: str) -> str | None:
        asked.append(state)
        return next(results)

    monkeypatch.setattr(LiveCatalog, "summary", count)
    assert client.ask("/events?state=old")[2] == "event: changed\ndata: \n\n"
    assert not asked
    with client.open(client.events("/")) as tab:
        lines = iter(tab.readline, b"")
        assert b"event: summary\n" in lines
        assert next(lines) == b"data: 7 datasets\n"
    assert len(asked) == 2


def test_taken_port_leads_to_a_free_one_of_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with free_socket(port) as found:
            assert port < found.getsockname()[1] < port + 50
            assert found.getsockname()[0] == "127.0.0.1"
        monkeypatch.setattr("registry.plugins.browse.server._TRIED_PORTS", 1)
        with pytest.raises(RegistryError, match=f"no free port from {port} on"):
            free_socket(port)


def test_two_datasets_are_compared_by_a_form_or_by_their_address(client: Client) -> None:
    text = MANIFEST + MANIFEST.partition("datasets:\n")[2].replace("planets:", "worlds:", 1)
    client.manifest.write_text(text, encoding="utf-8")
    status, headers, page = client.ask("/compare?left=planets")
    assert status == 200
    assert "form-action 'self'" in headers["Content-Security-Policy"]
    assert '<form action="../compare" method="get"' in page
    assert '<option value="worlds">' in page
    missing = client.ask("/compare?left=planets&right=worlds")[2]
    assert "planets: not cached (`registry sync planets` builds it)" in missing
    for name in ("planets", "worlds"):
        get_dataset(name, root=client.manifest.parent)
    for path in ("/compare?left=planets&right=worlds", "/compare/planets@worlds@1.html"):
        assert ">2 equal</a>" in client.ask(path)[2]
    assert "There is no sample 9" in client.ask("/compare/planets@worlds@9.html")[2]
    hostile = client.ask("/compare?left=%3Cscript%3Ealert(1)&right=worlds")
    assert (hostile[0], "<script>alert" in hostile[2]) == (200, False)


def test_rest_of_a_sample_that_is_cut_is_one_click_away(client: Client) -> None:
    source = client.manifest.parent / "planets.csv"
    source.write_text(f"question,answer\n{'long ' * 20_000}end of it,Mars\nshort,x\n", "utf-8")
    page = client.ask("/datasets/planets.html")[2]
    (link,) = re.findall(r'href="\.\.(/samples/[^"]*)">The whole sample', page)
    assert link == "/samples/planets@1.html?whole=1"
    assert "end of it" not in page
    whole = client.ask(link)[2]
    assert whole.count('<article class="sample"') == 1
    assert "end of it" in whole
    assert "There is no sample 9" in client.ask("/samples/planets@9.html?whole=1")[2]


@pytest.mark.parametrize(
    ("question", "status", "text"),
    [
        ("sort=x", 400, "a part of the question is no number\n"),
        ("chosen=1", 400, "a part of the question is no number\n"),
        ("chosen=9.0", 200, '{"problem":"the table has no such column or group"}'),
        ("sort=9", 200, '{"problem":"the table has no such column or group"}'),
    ],
)
def test_question_that_no_table_answers_is_refused(
    question: str, status: int, text: str, client: Client
) -> None:
    found = client.ask(f"/tables/planets/rows.json?{question}")
    assert (found[0], found[2]) == (status, text)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("input: question", "input: qestion", "qestion"),
        ("[space]", "[space", "no samples here now"),
        (MANIFEST, "", "no samples here now"),
    ],
    ids=["field", "syntax", "half-saved"],
)
def test_table_of_a_dataset_that_is_edited_answers_with_its_problem(
    old: str, new: str, problem: str, client: Client
) -> None:
    tables = "/tables/planets.json", "/tables/planets/rows.json?first=0"
    for path in tables:
        assert "problem" not in json.loads(client.ask(path)[2])
    client.manifest.write_text(MANIFEST.replace(old, new), encoding="utf-8")
    for path in tables:
        # A failed request would be an error in the console of a page that is loaded again.
        status, _, text = client.ask(path)
        assert status == 200
        assert problem in json.loads(text)["problem"]
