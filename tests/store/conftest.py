"""Files of samples whose batches stay apart."""

from __future__ import annotations

import pytest

from registry.store import writer as sample_writer


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Write each batch as it comes, in place of joining small ones."""
    monkeypatch.setattr(sample_writer, "_BATCH_ROWS", 0)
