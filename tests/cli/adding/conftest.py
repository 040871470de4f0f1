"""What the parts of `add` need: a folder, and a context that may read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.boundary.boundary import Boundary
from registry.cache.cache import Cache
from registry.sources.pins import SourceContext


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SourceContext:
    monkeypatch.chdir(tmp_path)
    boundary = Boundary().allowing([str(tmp_path)])
    return SourceContext(boundary=boundary, cache=Cache(tmp_path / "cache"))
