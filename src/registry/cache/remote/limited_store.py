"""A store whose calls end when they make no progress, and fail in one way."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from registry.base.locations import public_location
from registry.cache.remote.stores import open_store, shown_without_secrets
from registry.cache.remote.time_limit import LibraryError, NoProgressError, run_limited
from registry.errors import CacheError

if TYPE_CHECKING:
    from registry.cache.remote.objects import Store

__all__ = ["LimitedStore", "NoAnswerError"]

_Result = TypeVar("_Result")


class NoAnswerError(Exception):
    """The store is not there, too slow, full, or does not permit it."""


class LimitedStore:
    """Calls the store at a URL, which is opened by the first call."""

    def __init__(self, url: str, seconds: float, *, store: Store | None = None) -> None:
        """Create it.

        Args:
            url: Path or URL of the store.
            seconds: How long a call may make no progress.
            store: The store; by default the one at the URL.
        """
        self.shown = public_location(url)
        """Its location without secrets."""
        self._url = url
        self._seconds = seconds
        self._given_store = store

    @cached_property
    def _store(self) -> Store:
        return self._given_store or open_store(self._url)

    def call(
        self,
        work: Callable[[Store, Callable[[], None]], _Result],
        *,
        factor: int = 1,
        tick: Callable[[], None] = lambda: None,
    ) -> _Result:
        """Return the result of work with the store.

        Args:
            work: Gets the store, and what it calls each time it has made progress.
            factor: How many times longer than usual it may make none.
            tick: Called a few times a second.

        Raises:
            NoAnswerError: it failed, or made no progress.
        """
        seconds = self._seconds * factor
        try:
            return run_limited(lambda progress: work(self._store, progress), seconds, tick=tick)
        except NoProgressError:
            raise NoAnswerError(f"no progress for {seconds:g} seconds") from None
        except LibraryError as error:
            text = shown_without_secrets(str(error.__cause__), self._url)
            kind = type(error.__cause__).__name__
            # Ours say all in their text.
            shown = text if isinstance(error.__cause__, CacheError) else f"{kind}: {text}"
            raise NoAnswerError(shown) from error
