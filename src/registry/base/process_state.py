"""What threads and forks of a process share: locks, computed attributes, the collector, and memory.

A fork copies locks as they are. If another thread held one, nobody in the child ever releases it;
so the locks of modules, and what guards attributes, are free in a child.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["ForkSafeLock", "cached_property", "gc_paused", "system_memory"]

_Value = TypeVar("_Value")
_LARGE_BYTES = 1 << 23


class ForkSafeLock:
    """A lock of a module, used as `with lock():`; a forked process begins with a free one."""

    def __init__(self, kind: Callable[[], AbstractContextManager[Any]] = threading.Lock) -> None:
        """Create a `Lock`, or a lock of another kind."""
        self._kind = kind
        self._renew()
        os.register_at_fork(after_in_child=self._renew)

    def _renew(self) -> None:
        self._lock = self._kind()

    def __call__(self) -> AbstractContextManager[Any]:
        """Return the lock of this process."""
        # Itself, so that a block in which a process forks releases the lock that it acquired.
        return self._lock


class cached_property(Generic[_Value]):  # noqa: N801 (named as that of functools)
    """An attribute that is computed when it is read first, like `functools.cached_property`.

    Before Python 3.12 that one holds a lock meanwhile, one for all instances of a class. Here two
    threads may compute the value at the same time; both get the first one.
    """

    def __init__(self, compute: Callable[[Any], _Value]) -> None:
        self._compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(self, instance: object, owner: type) -> _Value: ...

    def __get__(self, instance: object | None, owner: type) -> Self | _Value:
        if instance is None:
            return self
        # Not called again for this instance: what is in its `__dict__` comes before this object.
        value: _Value = instance.__dict__.setdefault(self._name, self._compute(instance))
        return value


_pauses = 0
"""Number of pauses, in all threads, that have not ended."""
_was_enabled = False
"""Whether the collector was on before the first of them."""
_lock = ForkSafeLock()
_users = 0
"""Number of blocks, in all threads, that use the memory of the system."""
_usual: pa.MemoryPool | None = None
"""What the process used before the first of them."""


@contextlib.contextmanager
def gc_paused() -> Iterator[None]:
    """Disable the cyclic garbage collector, until all pauses end; then enable it if it was on."""
    # Records and their values have no cycles, but there are so many that searching them for cycles
    # took a fifth of the time of a build by records.
    global _pauses, _was_enabled  # noqa: PLW0603 (the collector is the state of the process too)
    with _lock():
        if _pauses == 0:
            _was_enabled = gc.isenabled()
            gc.disable()
        _pauses += 1
    try:
        yield
    finally:
        with _lock():
            _pauses -= 1
            if _pauses == 0 and _was_enabled:
                gc.enable()


@functools.cache
def _keep_freed_memory() -> None:
    """Let `malloc` of glibc keep up to 16 MiB that are freed, as a block of a file needs them next.

    It keeps twice the largest block that was freed before. Else each build gets most of its memory
    from the system again, and on a virtual machine the first access to a page takes 4 µs.
    """
    import numpy as np  # slow to import, and only builds need it

    np.empty(_LARGE_BYTES, np.uint8)


@contextlib.contextmanager
def system_memory() -> Iterator[None]:
    """Let Arrow allocate by `malloc` until all such blocks end.

    mimalloc keeps what one thread allocates and another frees, as in a build: 30 to 60 MB, of no
    use to its time. An allocator that somebody has chosen stays.
    """
    import pyarrow as pa  # as above

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
