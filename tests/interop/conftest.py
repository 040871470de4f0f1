"""One cache for the tests of a module: each tool reads the same few datasets."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def cache_of_module(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def _shared_cache(cache_dir: Path, cache_of_module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGISTRY_CACHE_DIR", str(cache_of_module))
