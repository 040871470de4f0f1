"""Builds take the memory of the system, and give it back."""

from __future__ import annotations

import gc
import mmap
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pytest

from registry.base.memory import gc_paused, system_memory


@pytest.fixture
def usual() -> Iterator[pa.MemoryPool]:
    """The allocator of pyarrow's wheels, and afterwards the one of this process again."""
    before, usual = pa.default_memory_pool(), pa.mimalloc_memory_pool()
    pa.set_memory_pool(usual)
    yield usual
    pa.set_memory_pool(before)


def test_memory_is_that_of_the_system_until_the_last_block_ends(
    usual: pa.MemoryPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ARROW_DEFAULT_MEMORY_POOL", raising=False)
    with ThreadPoolExecutor(1) as other:
        with system_memory():
            entered = system_memory()
            other.submit(entered.__enter__).result()
        assert pa.default_memory_pool().backend_name == "system"
        column = pa.array(["x" * 1000] * 1000)
        other.submit(entered.__exit__, None, None, None).result()
    assert pa.default_memory_pool().backend_name == usual.backend_name
    assert column.to_pylist() == ["x" * 1000] * 1000


FAULTS = """
import contextlib, resource, sys
import numpy as np
from registry.base.memory import system_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    arrays = [np.ones(1 << 20, np.uint8) for _ in range(10)]
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

with system_memory() if sys.argv[1] == "kept" else contextlib.nullcontext():
    faults()
    print(min(faults() for _ in range(5)))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc adapts like this")
@pytest.mark.parametrize(("how", "is_kept"), [("kept", True), ("", False)])
def test_freed_memory_is_kept_for_the_next_block(how: str, is_kept: bool) -> None:
    names = ("MALLOC_", "GLIBC_TUNABLES", "LD_PRELOAD")
    usual = {key: value for key, value in os.environ.items() if not key.startswith(names)}
    command = [sys.executable, "-c", FAULTS, how]
    done = subprocess.run(command, env=usual, capture_output=True, text=True, check=True)
    pages = (10 << 20) // mmap.PAGESIZE
    assert (int(done.stdout) < pages / 2) == is_kept


def test_an_allocator_that_was_chosen_stays(
    usual: pa.MemoryPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARROW_DEFAULT_MEMORY_POOL", "mimalloc")
    with system_memory():
        assert pa.default_memory_pool().backend_name == "mimalloc"


def test_collector_is_paused_and_enabled_again_after_an_error() -> None:
    seen: list[bool] = []

    def fail_within() -> None:
        with gc_paused():
            seen.append(gc.isenabled())
            raise ValueError("within")

    assert gc.isenabled()
    with pytest.raises(ValueError, match="within"):
        fail_within()
    assert (seen, gc.isenabled()) == ([False], True)


def test_disabled_collector_stays_disabled() -> None:
    gc.disable()
    try:
        with gc_paused():
            assert not gc.isenabled()
        assert not gc.isenabled()
    finally:
        gc.enable()
