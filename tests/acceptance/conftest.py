"""A folder that tests of the Hub share, and the caches of other machines."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from registry.plugins.remote_cache.of_dataset import open_remote_cache

Machine = Callable[[str], Path]
"""Goes on with the empty cache of another machine, by its name; returns its folder."""


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@pytest.fixture
def emptied(shared_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder without files the working directory: the same one for all tests.

    In another one another process would import `datasets`, for 2 s.
    """
    monkeypatch.chdir(shared_folder)
    for path in shared_folder.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return shared_folder


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    def change(name: str) -> Path:
        monkeypatch.setenv("REGISTRY_CACHE_DIR", str(tmp_path / name))
        open_remote_cache.cache_clear()  # what a machine learned, no other one knows
        return tmp_path / name

    yield change
    open_remote_cache.cache_clear()
