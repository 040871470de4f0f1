"""The proxy gives each fault as named, or the tests that use it could not fail."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection, HTTPResponse, IncompleteRead
from urllib.parse import urlsplit

import pytest

from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.static import StaticFiles

BODY = bytes(range(100))


@pytest.fixture
def proxy() -> Iterator[FaultProxy]:
    with StaticFiles({"/a": BODY, "/b": b"b"}) as site, FaultProxy(site.url) as running:
        yield running


class Client:
    """Asks the proxy, each time by a new connection."""

    def __init__(self, proxy: FaultProxy, stack: ExitStack) -> None:
        self._host, self._stack = urlsplit(proxy.url).netloc, stack

    def __call__(self, path: str = "/a", *, method: str = "GET", **headers: str) -> HTTPResponse:
        connection = HTTPConnection(self._host, timeout=30)
        self._stack.callback(connection.close)
        connection.request(method, path, headers=headers)
        assert connection.sock is not None
        self.socket = connection.sock
        return self._stack.enter_context(connection.getresponse())


@pytest.fixture
def ask(proxy: FaultProxy) -> Iterator[Client]:
    with ExitStack() as stack:
        yield Client(proxy, stack)


def test_without_a_fault_answers_pass_unchanged(proxy: FaultProxy, ask: Client) -> None:
    answer = ask(Range="bytes=90-")
    assert (answer.status, answer.read()) == (206, BODY[90:])
    assert answer.headers["Content-Range"] == "bytes 90-99/100"
    head = ask(method="HEAD")
    assert (head.headers["Content-Length"], head.read()) == ("100", b"")
    assert [(one.method, one.path, one.status) for one in proxy.log] == [
        ("GET", "/a", 206),
        ("HEAD", "/a", 200),
    ]
    assert proxy.log[0].headers["range"] == "bytes=90-"


def test_a_fault_is_given_to_chosen_requests_only(proxy: FaultProxy, ask: Client) -> None:
    proxy.add(Fault(status=503, headers={"Retry-After": "7"}, body=b"busy"), path="/a", times=2)
    assert ask("/b").read() == b"b"
    assert ask(method="HEAD").status == 200
    refused = [ask() for _ in range(2)]
    assert [(one.status, one.headers["Retry-After"]) for one in refused] == [(503, "7")] * 2
    assert refused[0].read() == b"busy"
    assert ask().read() == BODY
    assert [one.status for one in proxy.requests("GET", "/a")] == [503, 503, 200]
    proxy.add(Fault(status=500))
    proxy.clear()
    assert ask().status == 200
    assert len(proxy.log) == 1


def test_a_connection_is_reset_within_the_body_or_before(proxy: FaultProxy, ask: Client) -> None:
    for after in (0, 10):
        proxy.add(Fault(reset_after=after), times=1)
        answer = ask()
        assert answer.read(after) == BODY[:after]
        with pytest.raises(ConnectionResetError):
            answer.read()
    proxy.add(Fault(reset_after=-1))
    with pytest.raises(ConnectionResetError):
        ask()
    assert proxy.log[-1].status == 0


def test_a_body_is_cut(proxy: FaultProxy, ask: Client) -> None:
    proxy.add(Fault(cut_after=10), times=1)
    proxy.add(Fault(cut_after=10, without=("Content-Length",)))
    with pytest.raises(IncompleteRead) as caught:
        ask().read()
    assert caught.value.partial == BODY[:10]
    assert ask().read() == BODY[:10]


def test_a_byte_is_flipped_at_its_place_in_the_file(proxy: FaultProxy, ask: Client) -> None:
    proxy.add(Fault(flip=95))
    spoilt = BODY[:95] + bytes([BODY[95] ^ 1]) + BODY[96:]
    assert ask().read() == spoilt
    assert ask(Range="bytes=90-").read() == spoilt[90:]
    assert ask(Range="bytes=96-").read() == BODY[96:]


def test_a_range_is_ignored_and_headers_are_replaced(proxy: FaultProxy, ask: Client) -> None:
    headers = {"ETag": '"other"'}
    proxy.add(Fault(ignore_range=True, headers=headers, without=("Accept-Ranges",)))
    answer = ask(Range="bytes=90-")
    assert (answer.status, answer.read()) == (200, BODY)
    assert answer.headers.get_all("ETag") == ['"other"']
    assert "Accept-Ranges" not in answer.headers


def test_an_answer_is_late_slow_or_never_ends(proxy: FaultProxy, ask: Client) -> None:
    proxy.add(Fault(silence=0.2), times=1)
    proxy.add(Fault(drip=500), times=1)
    proxy.add(Fault(stall_after=3))
    for _ in range(2):
        begun = time.monotonic()
        assert ask().read() == BODY
        assert time.monotonic() - begun > 0.15
    stalled = ask()
    assert stalled.read(3) == BODY[:3]
    ask.socket.settimeout(0.2)
    with pytest.raises(TimeoutError):
        stalled.read()


def test_an_answer_never_gets_to_its_end(proxy: FaultProxy, ask: Client) -> None:
    proxy.add(Fault(begin=b"HTTP/1.1 200 OK\r\n\r\n", repeat=b"xy"))
    begun = time.monotonic()
    assert ask().read(6) == b"xyxyxy"
    assert time.monotonic() - begun > 0.15
