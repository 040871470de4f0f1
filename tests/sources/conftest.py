"""A cache of its own for each test of a source, and what sources are read with."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.boundary.boundary import UNBOUNDED
from registry.cache.cache import Cache
from registry.sources.pins import SourceContext


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def context(cache: Cache) -> SourceContext:
    return SourceContext(boundary=UNBOUNDED, cache=cache)
