"""Name the host that a location is read from, and tell public addresses from private ones.

A host is taken from a URL by rules of our own, which accept less than any client does: a URL that
two parsers read differently is refused, not interpreted.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from registry.base.escape import escape_control
from registry.base.locations import Location
from registry.errors import ReachError

__all__ = [
    "HUB",
    "S3",
    "Host",
    "address_fault",
    "endpoint_of",
    "host_of",
    "is_listed",
    "parse_host",
    "server_of",
    "url_host",
]

HUB = "huggingface.co"
S3 = "s3.amazonaws.com"

_NAME = r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?"
_AUTHORITY = re.compile(
    rf"(?:\[(?P<v6>[0-9A-Fa-f.]*:[0-9A-Fa-f:.]+)\]|(?P<name>{_NAME}))(?::(?P<port>\d{{1,5}})?)?"
)
# Clients also read `127.1`, `0x7f.1`, `2130706433` and `0177.0.0.1` as addresses.
_NUMERIC = re.compile(r"(?:0[xX][0-9a-fA-F]*|\d+)")
_LONGEST_NAME = 253
"""Of a name in the DNS; to decode `xn--` takes quadratic time."""
# Public to Python, and not routed to a public server: site-local (RFC 3879), protocol assignments
# (RFC 6890, where Oracle's cloud has its metadata), and where Azure has its own.
_NOT_PUBLIC = ("fec0::/10", "192.0.0.0/24", "168.63.129.16/32")
_PORTS = {"http": 80, "https": 443}
_PROVIDERS = {"s3": S3, "s3a": S3, "hf": HUB}


class Host(NamedTuple):
    """A host and, where it was named, its port."""

    name: str
    """In lower case, without a dot at the end or brackets."""
    port: int | None = None

    def __str__(self) -> str:
        if self.port is None:
            return self.name
        return f"[{self.name}]:{self.port}" if ":" in self.name else f"{self.name}:{self.port}"

    @property
    def is_loopback(self) -> bool:
        """Whether it is plainly this machine: by its usual name, or by an address."""
        if self.name == "localhost":
            return True
        address = _address(self.name)
        return address is not None and not _inner(address) and bool(address.is_loopback)


def parse_host(text: str) -> Host:
    """Return the host in `host`, `host:port`, `::1` or `[::1]:80`.

    Raises:
        ReachError: it is not a host, or clients may read it in different ways.
    """
    if text.count(":") > 1 and not text.startswith("["):
        text = f"[{text}]"
    found = _AUTHORITY.fullmatch(text)
    name = ((found["v6"] or found["name"]) if found else "").lower().removesuffix(".")
    is_name = 0 < len(name) <= _LONGEST_NAME
    # What ends in a number is an address, which must be written in the usual form.
    if not found or not is_name or (_odd(name) and _address(name) is None):
        raise ReachError(f"'{text[:80]}' is not a host (write its plain name, in ASCII letters)")
    return Host(name, int(found["port"]) if found["port"] else None)


def url_host(url: str) -> Host:
    """Return the host of a URL, with the port that its scheme has by default.

    Raises:
        ReachError: it has no host, or a user before it, or characters that clients differ about.
    """
    scheme, _, rest = url.partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    is_odd = not authority.isprintable() or any(sign in authority for sign in "\\@% ")
    is_odd = is_odd or Location(url).has_divided_user  # of which nothing may be shown
    if is_odd or (authority.count(":") > 1 and not authority.startswith("[")):
        raise ReachError(f"'{scheme}://…' does not name its host plainly (write {scheme}://HOST/…)")
    host = parse_host(authority)
    return host._replace(port=host.port or _PORTS.get(scheme))


def host_of(location: Location, options: Mapping[str, Any] | None = None) -> str:
    """Return the host, and a port that is unusual, that a location is read from; "" for a file.

    Of a member of an archive, the archive counts. `fs_options` may name another endpoint.

    Raises:
        ReachError: the URL does not name a host plainly.
    """
    url = _server_url(location, options or {})
    if url is None:
        return ""
    host = _plain_host(url, location)
    usual = host.port == _PORTS.get(Location(url).protocol)
    return str(host._replace(port=None) if usual else host)


def server_of(location: Location, options: Mapping[str, Any]) -> Host | None:
    """Return the host, with its port, that a location is read from; None for a file.

    Raises:
        ReachError: the URL does not name a host plainly.
    """
    url = _server_url(location, options)
    return None if url is None else _plain_host(url, location)


def _server_url(location: Location, options: Mapping[str, Any]) -> str | None:
    if location.is_local:
        return None
    scheme = location.protocol
    if scheme in _PORTS:  # no option of HTTP names another server
        return location.file
    provider = f"https://{_PROVIDERS[scheme]}" if scheme in _PROVIDERS else location.file
    return endpoint_of(options) or provider


def _plain_host(url: str, location: Location) -> Host:
    try:
        return url_host(url)
    except ReachError as error:
        raise ReachError(f"{escape_control(location.public)}: {error}") from None


def endpoint_of(options: Mapping[str, Any]) -> str | None:
    """Return the server that options name in place of the usual one."""
    inner = options.get("client_kwargs")
    inner = inner if isinstance(inner, Mapping) else {}
    named = options.get("endpoint_url") or inner.get("endpoint_url") or options.get("endpoint")
    return named if isinstance(named, str) else None


def is_listed(host: Host, entries: Iterable[str]) -> bool:
    """Return whether a host is among the entries of an index; one without a port has all ports."""
    for entry in entries:
        with contextlib.suppress(ReachError):  # an invalid entry lists nothing
            listed = parse_host(entry)
            if listed.name == host.name and listed.port in (None, host.port):
                return True
    return False


def address_fault(name: str) -> str:
    """Return why the address `name` is not on the public internet; "" if it is, or is a name."""
    address = _address(name)
    if address is None:
        return ""
    for one in _inner(address) or [address]:
        if not one.is_global or one.is_multicast or one.is_reserved or _is_unrouted(one):
            private = "loopback" if one.is_loopback else "private"
            return f"a {'link-local' if one.is_link_local else private} address"
    return ""


def _odd(name: str) -> bool:
    if "xn--" in name:  # clients decode it
        try:
            name.encode("ascii").decode("idna")
        except UnicodeError:
            return True
    return ":" in name or _NUMERIC.fullmatch(name.rpartition(".")[2]) is not None


def _address(name: str) -> Any:
    import ipaddress  # most catalogs name no address

    try:
        return ipaddress.ip_address(name)
    except ValueError:
        return None


def _is_unrouted(address: Any) -> bool:
    import ipaddress

    return any(address in ipaddress.ip_network(one) for one in _NOT_PUBLIC)


def _inner(address: Any) -> list[Any]:
    """Return the IPv4 address within an IPv6 address, which a gateway would send packets to."""
    import ipaddress

    # Newer Pythons say `is_loopback` of ::ffff:127.0.0.1, too.
    if address.version == 4 or address == ipaddress.IPv6Address(1):
        return []
    high, low = int(address) >> 32, ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address.sixtofour is not None:
        return [address.sixtofour]
    # ::ffff:0:0/96 (mapped), ::/96 (compatible), 64:ff9b::/96 (NAT64)
    return [low] if high in (0xFFFF, 0, 0x64FF9B << 64) else []
