"""A folder that tests of the Hub share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


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
