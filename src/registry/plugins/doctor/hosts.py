"""Check whether the servers answer that the manifests of a catalog read from."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from registry.api import Location, ReachError, check_location, connection_failure, count_text
from registry.plugins.doctor.observation import Observation, fine, warn

if TYPE_CHECKING:
    from registry import Catalog
    from registry.api import Boundary, Client

__all__ = ["host_observations", "origins_of"]

_MOST = 8
"""Servers that are asked, those of the most datasets first."""
_SECONDS = 5
_SOURCES = ("source", "concat", "join", "splits")
"""Keys of a manifest that say what is read."""


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
