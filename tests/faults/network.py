"""Datasets behind a proxy that spoils answers, loaded by the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path

from tests.command_line import Ran
from tests.faults.process import datasets_of, registry, write_catalog
from tests.servers.fault_proxy import FaultProxy

__all__ = [
    "LARGE",
    "QUICK",
    "ROWS",
    "Served",
    "blobs",
    "catalog_of",
    "quarantined",
    "ranges",
    "sync",
    "tried",
]

Served = Callable[[dict[str, bytes]], FaultProxy]
"""Serves files through a proxy; a fixture."""
ROWS = b"q,a\n" + b"".join(b"question %d,answer %d\n" % (n, n) for n in range(20_000))
"""A CSV file of half a megabyte."""
LARGE = b"q,a\n" + b"".join(
    b"question %d %s,answer %d\n" % (n, b"x" * 2000, n) for n in range(17_000)
)
"""A CSV file of 34 MB, which is fetched in four parts at a time."""
QUICK = {"REGISTRY_DEADLINE": "3", "REGISTRY_READ_TIMEOUT": "1"}
"""Settings with which whatever does not work ends in seconds."""


def catalog_of(folder: Path, urls: Iterable[str]) -> Path:
    """Write a catalog with a dataset for each URL, named as its file; return its folder."""
    paths = {url.rpartition("/")[2].partition(".")[0]: f"'{url}'" for url in urls}
    datasets = datasets_of("csv", paths, ", fields: {input: q, target: a}")
    return write_catalog(folder, datasets)


def sync(catalog: Path, **settings: str) -> Ran:
    """Run `registry sync`."""
    return registry(catalog, "sync", **settings)


def tried(ended: Ran) -> dict[str, tuple[int, int]]:
    """Return for each dataset whose server failed the attempts, and the seconds of all of them."""
    found = re.findall(r"^error: (\w+): .* (\d+) attempts? in (\d+) s", ended.err, re.MULTILINE)
    return {name: (int(attempts), int(seconds)) for name, attempts, seconds in found}


def blobs(catalog: Path) -> list[bytes]:
    """Return the files that the cache holds as downloaded."""
    return [path.read_bytes() for path in catalog.glob("cache/v*/blobs/*")]


def quarantined(catalog: Path) -> list[bytes]:
    """Return the files that were rejected."""
    return [path.read_bytes() for path in catalog.glob("cache/v*/quarantine/*") if path.is_file()]


def ranges(proxy: FaultProxy, path: str = "") -> list[int]:
    """Return where each GET of a path begins to read."""
    asked = [one.headers.get("range", "bytes=0-") for one in proxy.requests("GET", path)]
    return [int(one.removeprefix("bytes=").partition("-")[0]) for one in asked]
