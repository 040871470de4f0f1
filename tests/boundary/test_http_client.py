"""Redirects stay within the boundary, and take nothing along to another host."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from registry.base.locations import Location
from registry.boundary.boundary import UNBOUNDED, Boundary
from registry.errors import ReachError, SourceError
from registry.sources.filesystem import filesystem, source_errors
from tests.conftest import Https
from tests.servers.fault_proxy import Fault, FaultProxy
from tests.servers.recorder import Recorder
from tests.servers.static import StaticFiles

CLOSED = Boundary()
SECRET = "hunter2-hunter2"


@pytest.fixture
def site() -> Iterator[Recorder]:
    with Recorder() as site:
        yield site


def read(url: str, options: dict[str, Any] | None = None, boundary: Boundary = CLOSED) -> bytes:
    with source_errors(Location(url)):
        found: bytes = filesystem(Location(url), options or {}, boundary).cat_file(url)
    return found


def resolve(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Give every name one address."""

    def look_up(name: Any, port: Any, *_: Any, **__: Any) -> Any:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)


OPTIONS = [
    {"headers": {"X-Api-Key": SECRET, "Authorization": SECRET}},
    {"client_kwargs": {"headers": {"X-Api-Key": SECRET, "Cookie": f"a={SECRET}"}}},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("boundary", [CLOSED, UNBOUNDED])
def test_headers_go_to_the_first_host_only(
    site: Recorder, options: dict[str, Any], boundary: Boundary
) -> None:
    site.redirects = {"/a": "/b", "/b": site.url("/c", "localhost")}
    assert read(site.url("/a"), options, boundary) == b"q,a\n1,2\n"
    assert SECRET in str(site.headers("/a"))
    assert SECRET in str(site.headers("/b"))
    assert SECRET not in str(site.headers("/c"))
    assert "cookie" not in site.headers("/c")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_cookies_and_keys_of_a_users_call_stay_with_the_first_host(site: Recorder) -> None:
    import aiohttp

    site.redirects = {"/a": site.url("/c", "localhost")}
    client = {"auth": aiohttp.BasicAuth("user", SECRET), "cookies": {"a": SECRET}}
    read(site.url("/a"), {"client_kwargs": client}, UNBOUNDED)
    assert {"authorization", "cookie"} <= site.headers("/a").keys()
    assert not {"authorization", "cookie"} & site.headers("/c").keys()


def test_ranges_are_kept_where_headers_are_dropped(site: Recorder) -> None:
    site.redirects = {"/a": site.url("/c", "localhost")}
    options = {"headers": {"X-Api-Key": SECRET}}
    filesystem(Location(site.url("/a")), options, CLOSED).cat_file(site.url("/a"), start=0, end=3)
    assert site.headers("/c")["range"] == "bytes=0-2"
    assert "x-api-key" not in site.headers("/c")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("http://169.254.169.254/latest/meta-data", "169.254.169.254 is a link-local address"),
        ("https://10.0.0.7/x", "10.0.0.7 is a private address"),
        ("http://example.org/x", "plain HTTP to example.org"),
        ("https://[::ffff:10.0.0.7]/x", "private address"),
        ("https://good.example@evil.example/x", "does not name its host plainly"),
        ("file:///etc/passwd", "redirected to file:"),
        ("ftp://example.org/x", "redirected to ftp:"),
        ("https://xn--/", "not a host"),
        ("https://[x/", "invalid URL|not a host"),
    ],
)
def test_a_redirect_out_of_the_boundary_is_refused(
    site: Recorder, target: str, message: str
) -> None:
    site.redirects = {"/a": target}
    with pytest.raises(ReachError, match=message) as caught:
        read(site.url("/a"))
    assert str(caught.value).startswith(site.url("/a"))
    with pytest.raises(ReachError, match=message), source_errors(Location(site.url("/a"))):
        filesystem(Location(site.url("/a")), {}, CLOSED).info(site.url("/a"))


def test_a_redirect_to_a_listed_host_is_followed(site: Recorder) -> None:
    site.redirects = {"/a": "http://listed.example/x"}
    with pytest.raises(SourceError, match=r"no address is known for listed\.example"):
        read(site.url("/a"), boundary=Boundary(hosts=frozenset({"listed.example"})))


def test_options_for_listed_hosts_go_to_no_other(site: Recorder) -> None:
    site.redirects = {"/a": site.url("/c", "localhost")}
    options = {"client_kwargs": {"trust_env": True}}
    with pytest.raises(ReachError, match=r"'client_kwargs\.trust_env' is only for listed hosts"):
        read(site.url("/a"), options, Boundary(hosts=frozenset({"127.0.0.1"})))


def test_a_redirect_from_https_to_plain_http_is_refused(site: Recorder, https: Https) -> None:
    url = https.redirect("/a", site.url("/b", "localhost"))
    listed = Boundary(hosts=frozenset({"localhost"}))
    for boundary in (CLOSED, listed):
        with pytest.raises(ReachError, match="from HTTPS to plain HTTP"):
            read(url, boundary=boundary)
    assert site.received == []
    assert read(url, boundary=UNBOUNDED) == b"q,a\n1,2\n"  # the user's own word


def test_a_redirect_within_https_is_followed(https: Https) -> None:
    url = https.redirect("/a", https.put("/b", b"q,a\n"))
    assert read(url) == b"q,a\n"


def test_a_loop_of_redirects_ends(site: Recorder) -> None:
    site.redirects = {"/a": "/b", "/b": "/a"}
    with pytest.raises(ReachError, match="more than 10 redirects"):
        read(site.url("/a"))
    assert len(site.received) == 11


@pytest.mark.parametrize("host", ["inside.example", "localhost.example", "127.0.0.1.nip.example"])
@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.7", "169.254.169.254"])
def test_a_name_of_a_private_address_is_refused(
    site: Recorder, monkeypatch: pytest.MonkeyPatch, host: str, address: str
) -> None:
    resolve(monkeypatch, address)
    with pytest.raises(ReachError, match=f"{host} is at {address}, a .* address .*hosts: "):
        read(f"https://{host}:{site.port}/a")
    assert site.received == []


def test_a_listed_name_may_have_a_private_address(
    site: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, "127.0.0.1")
    boundary = Boundary(hosts=frozenset({"minio.example"}))
    assert read(site.url("/a", "minio.example"), boundary=boundary) == b"q,a\n1,2\n"


def test_a_server_that_is_not_this_machine_does_not_lead_to_it(
    site: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolve(monkeypatch, "127.0.0.1")
    site.redirects = {"/a": site.url("/admin")}
    boundary = Boundary(hosts=frozenset({"far.example"}))
    with pytest.raises(ReachError, match="redirected to this machine"):
        read(site.url("/a", "far.example"), boundary=boundary)
    assert [one.path for one in site.received] == ["/a"]


def test_a_header_must_arrive_in_time_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_READ_TIMEOUT", "1")
    endless = Fault(begin=b"HTTP/1.1 200 OK\r\nX-Endless: ", repeat=b"x")
    with StaticFiles({"/a": b"a"}) as files, FaultProxy(files.url) as proxy:
        proxy.add(endless, times=1)
        with pytest.raises(SourceError, match="/a: the server did not answer in time"):
            read(f"{proxy.url}/a")
        assert read(f"{proxy.url}/a") == b"a"
