"""A cache of its own for each test of a source, and what sources are read with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.decode.stream import SourceBytes
from registry.sources.pins import SourceContext
from tests.servers.fault_proxy import FaultProxy
from tests.servers.static import StaticFiles


def context_of(cache: Cache, **keys: Any) -> SourceContext:
    """Return a context that has looked nothing up yet."""
    return SourceContext(boundary=UNBOUNDED, cache=cache, **keys)


def content(file: SourceBytes) -> bytes:
    with file.open() as opened:
        return opened.read()


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def context(cache: Cache) -> SourceContext:
    return context_of(cache)


@pytest.fixture
def site(request: pytest.FixtureRequest) -> Iterator[StaticFiles]:
    """Serve what a module calls DATA as `/a`."""
    with StaticFiles({"/a": request.module.DATA}) as running:
        yield running


@pytest.fixture
def proxy(site: StaticFiles) -> Iterator[FaultProxy]:
    with FaultProxy(site.url) as running:
        yield running
