"""Lock files: one process does the work, the others wait for it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

from registry.base.cache_access import file_mode, make_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["lock"]


@contextlib.contextmanager
def lock(path: Path) -> Iterator[None]:
    """Hold the lock file at `path`, so that one process does the work and others wait for it.

    Correctness never depends on it: if locking fails (a file system without locks, a read-only
    cache), the work is done without a lock, at worst twice.
    """
    from filelock import FileLock

    file_lock = None
    with contextlib.suppress(OSError, NotImplementedError):
        make_folder(path.parent)
        file_lock = FileLock(path, mode=file_mode(path))
        file_lock.acquire()
    try:
        yield
    finally:
        if file_lock is not None:
            file_lock.release()
