"""Check how this machine reaches servers: its settings, the Hub, the servers of a catalog."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from registry import RegistryError
from registry.api import (
    PROXY_LOGIN,
    LibraryError,
    Location,
    NoProgressError,
    ReachError,
    check_location,
    connection_failure,
    count_text,
    hub_host,
    remote_cache,
    run_limited,
)
from registry.plugins.doctor import Observation, fail, fine, masked_url, warn

if TYPE_CHECKING:
    import httpx2

    from registry import Catalog
    from registry.api import Boundary, Client, Unreached

__all__ = ["host_observations", "network_observations", "origins_of", "setting_observations"]


_HUB = "https://huggingface.co"
_SECONDS = 5
"""How long a server may take."""
_SKEW_SECONDS = 300
"""S3 refuses requests that are signed 15 minutes off."""
_PROXIES = ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY")
_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
_LOCAL = {"localhost", "127.0.0.1", "::1"}
_MOST = 8
"""Servers that are asked, those of the most datasets first."""
_SOURCES = ("source", "concat", "join", "splits")
"""Keys of a manifest that say what is read."""
_NO_NETWORK = "check the network and HTTPS_PROXY, or work with --offline"


def setting_observations(environ: Mapping[str, str]) -> Iterator[Observation]:
    """Yield what the environment says about the network; makes no request."""
    yield _token_observation(environ)
    yield _endpoint_observation(environ)
    yield from _proxy_observations(environ)
    yield _certificate_observation(environ)


def network_observations(environ: Mapping[str, str]) -> Iterator[Observation]:
    """Yield what is reachable; each server has a few seconds."""
    yield from _hub_observations(environ)
    yield from _remote_observations(environ)


def token_of(environ: Mapping[str, str]) -> tuple[str, str]:
    """Return the token for the Hub, and where it is from; two empty strings if there is none."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        if value := environ.get(name, "").strip():
            return value, name
    # Where `huggingface_hub` looks for it.
    caches = environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    home = environ.get("HF_HOME") or os.path.join(caches, "huggingface")
    path = Path(environ.get("HF_TOKEN_PATH") or os.path.join(home, "token")).expanduser()
    try:
        value = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return "", ""
    return (value, str(path)) if value else ("", "")


def _token_observation(environ: Mapping[str, str]) -> Observation:
    token, place = token_of(environ)
    if not token:
        return fine("token", "none for the Hub, so only public datasets can be read")
    if any(not one.isprintable() or one.isspace() for one in token) or not token.isascii():
        return fail("token", f"{place} has characters that no token has", f"set {place} again")
    return fine("token", f"for the Hub, from {place}")


def _endpoint(environ: Mapping[str, str]) -> str:
    return environ.get("HF_ENDPOINT", "").strip().rstrip("/") or _HUB


def _endpoint_observation(environ: Mapping[str, str]) -> Observation:
    endpoint = _endpoint(environ)
    name, shown = "endpoint", masked_url(endpoint)
    parts = _split(endpoint)
    if parts is None or parts.scheme not in ("http", "https"):
        return fail(
            name, f"HF_ENDPOINT is not a URL: {shown}", "set it to https://HOST, or unset it"
        )
    if parts.scheme == "http" and parts.hostname not in _LOCAL:
        return warn(name, f"{shown} (HF_ENDPOINT), without encryption", "use https:// for it")
    return fine(name, f"{shown}{' (HF_ENDPOINT)' if environ.get('HF_ENDPOINT') else ''}")


def _split(url: str) -> Any:
    """Return the parts of a URL with a host; None for anything else."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises for what is no number
    except ValueError:
        return None
    return parts if parts.hostname else None


def _proxy_observations(environ: Mapping[str, str]) -> Iterator[Observation]:
    shown = []
    for name in _PROXIES:
        upper, lower = environ.get(name, ""), environ.get(name.lower(), "")
        value = lower or upper
        if not value:
            continue
        if upper and lower and upper != lower:
            step = f"unset {name} or {name.lower()}"
            yield warn("proxy", f"{name} and {name.lower()} differ", step)
        if _split(value if "://" in value else f"http://{value}") is None:
            yield fail("proxy", f"{name} is not a URL", f"set {name}=http://HOST:PORT, or unset it")
        shown.append(f"{name}={masked_url(value)}")
    if shown:
        direct = environ.get("no_proxy") or environ.get("NO_PROXY")
        yield fine("proxy", ", ".join(shown) + (f", not for {direct}" if direct else ""))
    else:
        yield fine("proxy", "none")


def _certificate_observation(environ: Mapping[str, str]) -> Observation:
    name = "certificates"
    for variable in _CERTIFICATES:
        path = environ.get(variable)
        if path and not os.access(path, os.R_OK):
            return fail(name, f"{variable} names {path}, which can't be read", f"unset {variable}")
    try:
        # In the order of the client: one variable replaces those of the system.
        file, folder = environ.get("SSL_CERT_FILE"), environ.get("SSL_CERT_DIR")
        context = ssl.create_default_context(cafile=file or None, capath=folder or None)
    except (OSError, ssl.SSLError) as error:
        step = "set SSL_CERT_FILE to a file of certificates (PEM)"
        return fail(name, f"can't be loaded: {type(error).__name__}", step)
    count = context.cert_store_stats()["x509_ca"]
    place = file or folder or ssl.get_default_verify_paths().cafile or "the system"
    if not count and not folder:
        return warn(name, f"none in {place}", "install ca-certificates, or set SSL_CERT_FILE")
    return fine(
        name, f"{count_text(count, 'trusted certificate')} in {place}" if count else f"in {place}"
    )


def _hub_observations(environ: Mapping[str, str]) -> Iterator[Observation]:
    endpoint = _endpoint(environ)
    parts = _split(endpoint)
    if parts is None or parts.scheme not in ("http", "https"):
        return  # reported already
    shown = masked_url(endpoint)
    token, place = token_of(environ)
    is_private = parts.scheme == "https" or parts.hostname in _LOCAL
    may_send = bool(token) and token.isascii() and token.isprintable() and is_private
    headers = {"Authorization": f"Bearer {token}"} if may_send else {}
    path = "/api/whoami-v2" if may_send else "/api/datasets?limit=1"
    start = time.monotonic()
    try:
        answer = run_limited(lambda _: _get(endpoint + path, headers), _SECONDS)
    except NoProgressError:
        yield warn("hub", f"no answer from {shown} in {_SECONDS} s", _NO_NETWORK)
        return
    except LibraryError as error:
        # The message of the library is not shown: it has URLs.
        cause = error.__cause__ or error
        kind = type(cause).__name__
        failure = connection_failure(cause, hub_host(environ), protocol="hf")
        other = warn("hub", f"{shown} can't be reached ({kind})", _NO_NETWORK)
        yield _unreached(failure) if failure else other
        return
    yield _hub_answer(answer, shown, place if may_send else "", time.monotonic() - start)
    yield from _clock_observation(answer)


def _get(url: str, headers: Mapping[str, str]) -> httpx2.Response:
    import httpx2

    with httpx2.Client(timeout=_SECONDS) as client:
        return client.get(url, headers=dict(headers))


def _unreached(failure: Unreached) -> Observation:
    """Return a failure for what a setting of this machine causes.

    A silent server is a warning: the machine may be meant to work offline.
    """
    return (fail if failure.is_setting else warn)("hub", failure.what, failure.check)


def _hub_answer(answer: httpx2.Response, shown: str, place: str, seconds: float) -> Observation:
    """Return what an answer means; `place` is where the token is from that was sent with it."""
    status = answer.status_code
    if status == 407:
        return _unreached(PROXY_LOGIN)
    if status in (401, 403) and place:
        return fail(
            "hub", f"{shown} refuses the token of {place}", "hf auth login, or set HF_TOKEN"
        )
    if "json" not in answer.headers.get("content-type", ""):
        text = (
            f"{shown} sent a page in place of data (status {status}): a login page of the network?"
        )
        return fail("hub", text, "open it in a browser, log in to the network, and try again")
    if status >= 400:
        return fail("hub", f"{shown} answers with status {status}", "try again later, or --offline")
    accepted = ", and takes the token" if place else ""
    return fine("hub", f"{shown} answers in {seconds:.1f} s{accepted}")


def _clock_observation(answer: httpx2.Response) -> Iterator[Observation]:
    """Compare the clock with that of the server."""
    try:
        server = parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, ValueError):
        return
    skew = round(time.time() - server)
    if abs(skew) > _SKEW_SECONDS:
        word = "fast" if skew > 0 else "slow"
        yield warn(
            "clock", f"about {abs(skew):,} s {word}", "set the clock: S3 refuses such requests"
        )
    else:
        yield fine("clock", "agrees with the server")


def _remote_observations(environ: Mapping[str, str]) -> Iterator[Observation]:
    """Yield whether the remote cache answers."""
    name = "remote cache"
    try:
        remote = remote_cache(environ)
    except RegistryError as error:
        yield fail(
            name, str(error).partition(" (")[0], "see docs/reference/scale.md for its variables"
        )
        return
    if remote is None:
        yield fine(name, "none (REGISTRY_REMOTE_CACHE)")
        return
    from registry.plugins.remote_cache.stores import open_store

    shown = masked_url(remote.url)
    location, seconds = Location(remote.url), min(remote.seconds, _SECONDS)
    is_folder = location.is_local and not location.is_package
    if is_folder and not os.path.isdir(location.local_path()):
        yield warn(name, f"{shown} does not exist", "create it, or mount its file system")
        return
    try:
        # There is no such object: asking for it shows that it may be asked for.
        run_limited(lambda _: open_store(remote.url).size("doctor"), seconds)
    except NoProgressError:
        yield fail(name, f"no answer from {shown} in {seconds} s", _NO_NETWORK)
    except LibraryError as error:
        kind = type(error.__cause__).__name__
        step = "check REGISTRY_REMOTE_CACHE and the credentials for it"
        yield fail(name, f"{shown} can't be read ({kind})", step)
    else:
        trusted = ", ".join(writer for writer, _ in remote.keys)
        whom = "anyone" if remote.trusts_all else trusted or "what datasets.lock proves"
        yield fine(name, f"{shown} answers; trusted: {whom}")


def host_observations(catalog: Catalog) -> Iterator[Observation]:
    """Yield which servers of the catalog answer; each is asked for nothing but its first page."""
    origins = origins_of(catalog)
    if not origins:
        return
    asked = [origin for origin, _ in origins.most_common(_MOST)]
    faults = asyncio.run(_faults(asked, catalog.boundary))
    silent = [(origin, fault) for origin, fault in zip(asked, faults, strict=True) if fault]
    left = len(origins) - len(asked)
    more = f" ({left:,} more not asked)" if left else ""
    if len(silent) < len(asked):
        text = f"{len(asked) - len(silent):,} of {count_text(len(asked), 'server')} answer{more}"
        yield fine("sources", text)
    for origin, fault in silent:
        number = count_text(origins[origin], "dataset")
        yield warn(
            "sources", f"{origin}: {fault}, {number}", "check the network, or sync --offline"
        )


def origins_of(catalog: Catalog) -> Counter[str]:
    """Return the servers of web addresses in the manifests, with their numbers of datasets.

    Those that the catalog may not reach are left out: `validate` reports them.
    """
    found: Counter[str] = Counter()
    for entry in catalog.entries.values():
        if entry.split:  # one that has the value of its dataset, too
            continue
        own = {_origin(url) for key in _SOURCES for url in _urls(entry.value.get(key))}
        found.update(one for one in own if one and _is_allowed(one, catalog))
    return found


def _urls(value: Any, key: str = "") -> Iterator[str]:
    """Yield the web addresses at `path`, at any depth."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _urls(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _urls(inner, key)
    elif key == "path" and isinstance(value, str):
        file = Location(value).file
        yield from [file] if file.startswith(("http://", "https://")) else []


def _origin(url: str) -> str:
    """Return scheme, host and port of a URL; "" if it has none."""
    try:
        parts = urlsplit(url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.hostname}{port}" if parts.hostname else ""


def _is_allowed(origin: str, catalog: Catalog) -> bool:
    try:
        check_location(Location(f"{origin}/"), {}, catalog.boundary)
    except ReachError:
        return False
    return True


async def _faults(origins: Sequence[str], boundary: Boundary) -> list[str]:
    """Return why each server does not answer, "" if it does; asked as for files, all at once."""
    import aiohttp

    from registry.api import client_opener

    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    client = await client_opener({}, boundary)(timeout=timeout)
    try:
        return list(await asyncio.gather(*(_fault(client, origin) for origin in origins)))
    finally:
        await client.close()


async def _fault(client: Client, origin: str) -> str:
    import aiohttp

    try:
        # Whatever the status: a server may have no first page.
        async with client.head(f"{origin}/", allow_redirects=False):
            return ""
    except TimeoutError:
        return f"no answer in {_SECONDS} s"
    except ReachError:
        return "it is at a private address"
    except (aiohttp.ClientError, OSError) as error:
        failure = connection_failure(error, urlsplit(origin).netloc, protocol="https")
        return failure.what if failure else f"it can't be reached ({type(error).__name__})"
