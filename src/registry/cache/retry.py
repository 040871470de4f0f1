"""Do work again if what it reads in the cache is gone: removed by another process, or damaged."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from registry.errors import CacheError, DamagedEntryError

if TYPE_CHECKING:
    from registry.cache.cache import Cache

__all__ = ["again_if_lost"]

_Result = TypeVar("_Result")

# More than twice: a process that clears the cache in a loop may be as fast as this one.
_ATTEMPTS = 5


def again_if_lost(work: Callable[[], _Result], cache: Cache) -> _Result:
    """Return the result of work that finds in the cache what it reads, and makes what is missing.

    Readers take no lock. So `cache clear`, `cache prune` or `sync --refresh` of another process may
    remove an entry or a download after this one has found it and before it has opened it.

    Raises:
        CacheError: it is gone each time.
    """
    for attempt in count(1):
        try:
            return work()
        except DamagedEntryError:
            if attempt == _ATTEMPTS:
                raise
        except FileNotFoundError as error:
            # pyarrow names the file in the message only.
            if str(cache.root) not in str(error):
                raise
            if attempt == _ATTEMPTS:
                message = f"{error} (does another process clear the cache all the time?)"
                raise CacheError(message) from error
    raise AssertionError  # `count` does not end
