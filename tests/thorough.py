"""What `make faults` alone runs: cases that differ little from one that every run has."""

from __future__ import annotations

import os

import pytest

__all__ = ["THOROUGH"]

THOROUGH = pytest.mark.skipif(
    os.environ.get("REGISTRY_FAULTS") != "all",
    reason="takes long, and differs little from another case (`make faults` runs it)",
)
