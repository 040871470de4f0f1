"""Locks and computed attributes that never make a forked process wait.

A fork copies locks as they are. If another thread held one, nobody in the child ever releases it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, Generic, Self, TypeVar, overload

__all__ = ["ForkSafeLock", "cached_property"]

_Value = TypeVar("_Value")


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
