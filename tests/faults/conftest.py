"""Faults, produced for real: how thoroughly, and with which tools."""

from __future__ import annotations

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def thorough() -> bool:
    """Tell whether a sweep visits every point, as `make faults` wants, or a sample of them."""
    return os.environ.get("REGISTRY_FAULTS") == "all"


@pytest.fixture(scope="session")
def strace() -> str:
    """Find strace, which kills a process, or fails a call, at a chosen system call."""
    found = shutil.which("strace")
    if found is None:
        pytest.skip("strace is not installed (`apt-get install strace`)")
    return found
