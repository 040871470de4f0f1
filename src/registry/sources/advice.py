"""What to do about a server that was not reached: names, proxies, certificates, sign-in pages."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from registry.sources.retry import causes, status_of

__all__ = ["SIGN_IN", "connection_failure", "hub_host"]

SIGN_IN = (
    "a proxy, or a network with a sign-in page, may have answered in its place: open the URL in a"
    " browser"
)
# Not the option: some commands lack it, and Python has an argument.
_OFFLINE = "REGISTRY_OFFLINE=1 uses what is cached"
# By name, as the modules of the clients are slow to import.
_PROXY_ERRORS = frozenset(
    {"ClientProxyConnectionError", "ClientHttpProxyError", "ProxyConnectionError", "ProxyError"}
)
_UNREACHED = frozenset(
    {
        "ClientConnectorDNSError",
        "ClientConnectorError",
        "ConnectError",
        "EndpointConnectionError",
    }
)
# Clients put the error of the system into their own as text.
_NO_SUCH_NAME = re.compile(r"Name or service not known|nodename nor servname|name resolution")
_REFUSED = re.compile(r"Connection refused|Connect call failed")


def connection_failure(error: BaseException, host: str, *, protocol: str) -> str | None:
    """Return what kept a request from its server and what to check; None for another error.

    Args:
        error: The error of a client.
        host: Where the request was to go, for the message.
        protocol: Of the location: http, https, s3, s3a or hf.
    """
    chain = list(causes(error))
    names = {type(link).__name__ for link in chain}
    text = " ".join(map(str, chain))
    is_proxy_error = not names.isdisjoint(_PROXY_ERRORS)
    if status_of(error) == 407 or (is_proxy_error and "407" in text):
        hint = "put it into HTTPS_PROXY: http://USER:PASSWORD@HOST:PORT"
        return f"the proxy asks for a login, 407 ({hint})"
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return f"the certificate of {host} is not trusted ({_about_certificates(protocol)})"
    if not is_proxy_error:  # it may be about a host that a redirect leads to
        host = next((one for one in _hosts(chain) if one not in host), host)
    proxy, unused = _proxies(host, protocol)
    is_unreached = not names.isdisjoint(_UNREACHED)
    if is_proxy_error or (is_unreached and proxy):
        hint = f"check HTTPS_PROXY; NO_PROXY lists hosts that need none; {_OFFLINE}"
        return f"the proxy{proxy and ' ' + proxy} can't be reached, or refuses {host} ({hint})"
    if _NO_SUCH_NAME.search(text) or any(isinstance(link, socket.gaierror) for link in chain):
        what, check = f"no address is known for {host}", "the network and the name"
    elif is_unreached and _REFUSED.search(text):
        what, check = f"{host} refuses the connection", "the port, and that a server runs there"
    elif is_unreached:
        what, check = f"{host} can't be reached", "the network"
    else:
        return None
    return f"{what} ({'; '.join(filter(None, [f'check {check}', unused, _OFFLINE]))})"


def hub_host(environ: Mapping[str, str] = os.environ) -> str:
    """Return the host of the Hub."""
    return _host_of(environ.get("HF_ENDPOINT") or "https://huggingface.co")


def _hosts(chain: Iterable[BaseException]) -> Iterator[str]:
    """Yield the hosts that errors of aiohttp are about."""
    for link in chain:
        host = getattr(link, "host", None)
        if isinstance(host, str) and type(link).__name__ in _UNREACHED:
            yield host


def _about_certificates(protocol: str) -> str:
    variable = "AWS_CA_BUNDLE" if protocol in ("s3", "s3a") else "SSL_CERT_FILE"
    return f"if a proxy inspects TLS, {variable} names a file with its authority's certificate"


def _proxies(host: str, protocol: str) -> tuple[str, str]:
    """Return the proxy on the way to a host, and a remark if the client does not use it."""
    from urllib.request import getproxies_environment, proxy_bypass

    found = getproxies_environment()
    proxy = found.get("https") or found.get("all") or found.get("http") or ""
    if not proxy or proxy_bypass(host):
        return "", ""
    # aiohttp, the client of plain URLs, reads no variable unless a manifest says so.
    if protocol not in ("http", "https"):
        return _host_of(proxy), ""
    how = "`fs_options: {client_kwargs: {trust_env: true}}`"
    return "", f"HTTPS_PROXY is used for URLs only with {how}"


def _host_of(url: str) -> str:
    """Return the host and port in a URL, without a user and a password."""
    return urlsplit(url if "//" in url else f"//{url}").netloc.rpartition("@")[2]
