"""Where Arrow and numpy take memory from during a build."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from registry.base.processes.forks import ForkSafeLock

__all__ = ["system_memory"]

_lock = ForkSafeLock()
_LARGE_BYTES = 1 << 23
_users = 0
"""Number of blocks, in all threads, that use the memory of the system."""
_usual: pa.MemoryPool | None = None
"""What the process used before the first of them."""


@functools.cache
def _keep_freed_memory() -> None:
    """Let `malloc` of glibc keep up to 16 MiB that are freed, as a block of a file needs them next.

    It keeps twice the largest block that was freed before. Else each build gets most of its memory
    from the system again, and on a virtual machine the first access to a page takes 4 µs.
    """
    np.empty(_LARGE_BYTES, np.uint8)


@contextlib.contextmanager
def system_memory() -> Iterator[None]:
    """Let Arrow allocate by `malloc` until all such blocks end.

    mimalloc keeps what one thread allocates and another frees, as in a build: 30 to 60 MB, of no
    use to its time. An allocator that somebody has chosen stays.
    """
    global _users, _usual  # noqa: PLW0603 (the allocator is the state of the process too)
    _keep_freed_memory()
    with _lock():
        pool, is_chosen = pa.default_memory_pool(), "ARROW_DEFAULT_MEMORY_POOL" in os.environ
        if _users == 0 and pool.backend_name == "mimalloc" and not is_chosen:
            _usual = pool
            pa.set_memory_pool(pa.system_memory_pool())
        _users += 1
    try:
        yield
    finally:
        with _lock():
            _users -= 1
            if _users == 0 and _usual is not None:
                pa.set_memory_pool(_usual)
                _usual = None
