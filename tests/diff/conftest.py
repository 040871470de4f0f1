"""A repository with the files of a test's module."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.git_repository import GitRepository


@pytest.fixture
def repository(request: pytest.FixtureRequest, tmp_path: Path) -> GitRepository:
    """Make a repository of `FILES`."""
    return GitRepository.make(tmp_path / "repository", request.module.FILES)
