"""Small files of these tests take the ways of large ones."""

from __future__ import annotations

import pytest

from registry.decode.shapes import columns


@pytest.fixture(autouse=True)
def shapes_of_small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read lines by their shapes, however few they are."""
    monkeypatch.setattr(columns, "_LEAST_BYTES", 0)
