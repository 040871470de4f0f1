"""The HTTP client of file systems: every hop of a redirect stays within the boundary.

aiohttp follows redirects by itself to any address, with the headers of the first request. So each
request here is one hop, whose URL and, once its name is looked up, address are checked.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Generator, Mapping
from types import TracebackType
from typing import Any

import aiohttp
import yarl
from aiohttp.abc import AbstractResolver, ResolveResult

from registry.base.locations import Location
from registry.boundary.boundary import Boundary
from registry.boundary.checks import check_location, listed_options
from registry.boundary.hosts import Host, address_fault, is_listed, parse_host, url_host
from registry.errors import ReachError

__all__ = ["Client", "client_opener"]

_MOST_REDIRECTS = 10
_REDIRECTS = (301, 302, 303, 307, 308)
_PERSONAL = ("headers", "cookies", "auth")
# What fsspec asks for, beside the headers that a manifest or a user adds.
_IMPERSONAL_HEADERS = ("range", "if-range", "accept-encoding")
_HINT = "name the URL of the file itself"
# How a connection is made and an answer is read, which says nothing about who asks.
_CONNECTING = ("auto_decompress", "proxy", "proxy_auth", "ssl", "timeout")


def client_opener(
    options: Mapping[str, Any], boundary: Boundary
) -> Callable[..., Awaitable[Client]]:
    """Return the `get_client` of an HTTP file system with these options."""
    listed = listed_options("https", options)

    async def open_client(**given: Any) -> Client:
        personal = {key: given.pop(key) for key in _PERSONAL if key in given}
        if not boundary.is_open:
            given["connector"] = aiohttp.TCPConnector(resolver=_Resolver(boundary))
        session = aiohttp.ClientSession(**given)
        return Client(
            session, personal, lambda url: check_location(Location(url), listed, boundary), boundary
        )

    return open_client


class Client:
    """What fsspec uses of `aiohttp.ClientSession`."""

    def __init__(
        self,
        session: aiohttp.ClientSession,
        personal: Mapping[str, Any],
        check: Callable[[str], None],
        boundary: Boundary,
    ) -> None:
        self._session = session
        self._personal = personal
        self._check = check
        self._boundary = boundary

    @property
    def closed(self) -> bool:
        """Whether it can't be used any more."""
        return self._session.closed

    @property
    def _connector(self) -> aiohttp.BaseConnector | None:
        return self._session.connector  # fsspec closes it when its event loop is gone

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    def get(self, url: str | yarl.URL, **how: Any) -> _Request:
        """Request a URL; redirects are followed."""
        return _Request(self._header("GET", yarl.URL(url), how))

    def head(self, url: str | yarl.URL, **how: Any) -> _Request:
        """Request the headers of a URL; redirects are followed."""
        return _Request(self._header("HEAD", yarl.URL(url), how))

    async def _header(
        self, method: str, url: yarl.URL, how: dict[str, Any]
    ) -> aiohttp.ClientResponse:
        """Follow redirects until the header of the file has arrived, in time as a whole.

        The time-out of aiohttp begins again with each byte, and with each `100 Continue`.
        """
        async with asyncio.timeout(self._session.timeout.sock_read):
            return await self._follow(method, url, how)

    async def _follow(
        self, method: str, url: yarl.URL, how: dict[str, Any]
    ) -> aiohttp.ClientResponse:
        given = (self._personal.get("headers"), how.get("headers"))
        headers = {name.lower(): text for one in given for name, text in dict(one or {}).items()}
        how = {**self._personal, **how, "headers": headers}
        follow = how.pop("allow_redirects", True)
        for _ in range(_MOST_REDIRECTS + 1):
            self._check(str(url))
            response = await self._session.request(method, url, allow_redirects=False, **how)
            target = _target(response) if follow else None
            if target is None:
                return response
            response.release()
            self._check_redirect(url, target)
            if target.origin() != url.origin():  # without headers, keys and cookies
                given = how["headers"]
                headers = {name: given[name] for name in given if name in _IMPERSONAL_HEADERS}
                how = {key: how[key] for key in _CONNECTING if key in how} | {"headers": headers}
            url = target
        raise ReachError(f"more than {_MOST_REDIRECTS} redirects ({_HINT})")

    def _check_redirect(self, url: yarl.URL, target: yarl.URL) -> None:
        if target.scheme not in ("http", "https") or not target.raw_host:
            raise ReachError(f"redirected to {target.scheme}:, which is not followed ({_HINT})")
        if self._boundary.is_open:
            return
        if (url.scheme, target.scheme) == ("https", "http"):
            message = f"redirected from HTTPS to plain HTTP, at {target.raw_host}"
            raise ReachError(f"{message} ({_HINT})")
        before, host = url_host(str(url)), url_host(str(target))
        if host.is_loopback and not before.is_loopback and not _is_listed(host, self._boundary):
            hint = f"if it should be read, add it to the root index: `hosts: ['{host}']`"
            raise ReachError(f"redirected to this machine, {host} ({hint})")


class _Request:
    """A request to `await`, or to use in `async with`."""

    def __init__(self, request: Any) -> None:
        self._request = request
        self._response: aiohttp.ClientResponse | None = None

    def __await__(self) -> Generator[Any, None, aiohttp.ClientResponse]:
        response: Generator[Any, None, aiohttp.ClientResponse] = self._request.__await__()
        return response

    async def __aenter__(self) -> aiohttp.ClientResponse:
        self._response = await self
        return await self._response.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._response is not None:
            await self._response.__aexit__(kind, error, trace)


class _Resolver(AbstractResolver):
    """Looks up names as usual, and refuses those of private addresses."""

    def __init__(self, boundary: Boundary) -> None:
        self._boundary = boundary
        self._inner = aiohttp.ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host.

        Raises:
            ReachError: one is not on the public internet, and the host is not listed.
        """
        found = await self._inner.resolve(host, port, family)
        named = parse_host(host)._replace(port=port)
        if named.is_loopback or _is_listed(named, self._boundary):
            return found
        for one in found:
            if fault := address_fault(one["host"].partition("%")[0]):
                raise ReachError(
                    f"{host} is at {one['host']}, {fault} (if it should be read, add it to the root"
                    f" index: `hosts: ['{named.name}']`)"
                )
        return found

    async def close(self) -> None:
        """Close nothing."""


def _is_listed(host: Host, boundary: Boundary) -> bool:
    return boundary.is_open or is_listed(host, boundary.hosts)


def _target(response: aiohttp.ClientResponse) -> yarl.URL | None:
    """Return the URL that a response redirects to, if it does."""
    location = response.headers.get("Location")
    if response.status not in _REDIRECTS or not location:
        return None
    try:
        return response.url.join(yarl.URL(location))
    except ValueError as error:
        raise ReachError(f"redirected to an invalid URL ({_HINT})") from error
