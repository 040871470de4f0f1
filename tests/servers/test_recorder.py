"""The recorder must see what it is trusted to see, or the tests that use it can't fail."""

from __future__ import annotations

from urllib.request import Request, urlopen

from tests.servers.recorder import Recorder


def test_requests_and_their_headers_are_recorded() -> None:
    with Recorder() as server:
        server.redirects["/a"] = server.url("/b", "localhost")
        server.pages["/b"] = b"body"
        with urlopen(Request(server.url("/a"), headers={"X-Key": "k"})) as answer:
            assert answer.read() == b"body"
    assert [(one.method, one.path) for one in server.received] == [("GET", "/a"), ("GET", "/b")]
    assert server.headers("/a")["x-key"] == "k"
    assert server.headers("/b")["x-key"] == "k"  # urllib sends it on, as other clients do
