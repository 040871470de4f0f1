"""Small files of these tests take the ways of large ones."""

from __future__ import annotations

import pytest

from tests.roads.large_files import as_large_files


@pytest.fixture(autouse=True)
def small_files_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read lines by their shapes, and map whole columns, however few they are."""
    as_large_files(monkeypatch)
