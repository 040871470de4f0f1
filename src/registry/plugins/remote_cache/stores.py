"""The store of a remote cache, whose calls end without progress, and fail in one way."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urlsplit

from registry import CacheError
from registry.api import (
    LibraryError,
    Location,
    NoProgressError,
    count_text,
    install_advice,
    run_limited,
)

if TYPE_CHECKING:
    from registry.plugins.remote_cache.folder_store import Store

__all__ = [
    "UPLOAD_FACTOR",
    "LimitedStore",
    "NoAnswerError",
    "has_divided_user",
    "open_store",
    "public_url",
    "secrets_in",
    "shown_without_secrets",
]


_Result = TypeVar("_Result")

UPLOAD_FACTOR = 10
"""How much longer an upload may show no progress: libraries report it by parts of 50 MB."""
_DIVIDERS = frozenset("/?#")
"""Characters that a user or a password can't have in a URL, but may in a variable."""


def open_store(url: str) -> Store:
    """Return the store at a path or URL; no request is made.

    Raises:
        CacheError: no installed package knows the protocol.
    """
    if Location(url).is_local:
        from registry.plugins.remote_cache.folder_store import FolderStore

        return FolderStore(Path(Location(url).local_path()))
    from registry.plugins.remote_cache.fsspec_store import FsspecStore

    try:
        return FsspecStore(url)
    except (ImportError, ValueError) as error:
        raise CacheError(
            f"can't open {Location(url).protocol}:// ({install_advice(error) or error})"
        ) from error


def public_url(url: str) -> str:
    """Return the place of a remote cache for messages, without user, password and query.

    Unlike in the locations of sources, `?` starts a query with every protocol: a token may follow,
    and nobody's folder is named so. Where a divider may be part of a password, all is hidden.
    """
    if Location(url).is_local:
        return url
    if has_divided_user(url):
        return f"{Location(url).protocol}://***"
    place, asked, _ = Location(url).public.partition("?")
    return f"{place}?…" if asked else place


def has_divided_user(url: str) -> bool:
    """Return whether what is before an `@` has a character that a user or a password can't have."""
    return not _DIVIDERS.isdisjoint(_before_host(url))


def _before_host(url: str) -> str:
    """Return user and password of a URL, even where a `/` in the password ends the host."""
    return (url.partition("://")[2] or url).rpartition("@")[0]


def secrets_in(url: str) -> Iterator[str]:
    """Yield user, password and parameters of a URL, as they are and decoded."""
    if has_divided_user(url):
        yield from (before := _before_host(url), before.partition(":")[2])
    try:
        parts = urlsplit(url if "://" in url else f"//{url}")
        user, password = parts.username, parts.password
    except ValueError:
        return
    values = [one.partition("=")[2] for one in parts.query.split("&")]
    for part in (user, password, parts.query, *values, parts.fragment):
        if part:
            yield from (part, unquote(part))


def shown_without_secrets(text: str, url: str) -> str:
    """Return a library's message without the user, password and query of a URL."""
    if Location(url).is_local:
        return text
    text = text.replace(url, public_url(url))
    # A library shows them as they are in the URL or as it sends them; the longest has others in it.
    for secret in sorted(set(secrets_in(url)), key=len, reverse=True):
        text = text.replace(secret, "…") if len(secret) > 2 else text
    return text


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
        self.shown = public_url(url)
        """Its location without secrets."""
        self._url = url
        self._seconds = seconds
        self._given_store = store
        self._idle: list[Store] = []
        self._process = os.getpid()

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
            return run_limited(lambda progress: self._work(work, progress), seconds, tick=tick)
        except NoProgressError:
            waited = count_text(seconds, "second")
            text = f"no progress for {waited} (REGISTRY_REMOTE_TIMEOUT sets the limit)"
            raise NoAnswerError(text) from None
        except LibraryError as error:
            text = shown_without_secrets(str(error.__cause__), self._url)
            kind = type(error.__cause__).__name__
            # Ours say all in their text.
            shown = text if isinstance(error.__cause__, CacheError) else f"{kind}: {text}"
            raise NoAnswerError(shown) from error

    def size(self, name: str) -> int | None:
        """Return the number of bytes of an object; None if there is none.

        Raises:
            NoAnswerError: as for `call`.
        """
        return self.call(lambda store, _: store.size(name))

    def upload(self, path: Path, name: str) -> None:
        """Store a file under a name, in place of what is there.

        Raises:
            NoAnswerError: as for `call`.
        """
        self.call(
            lambda store, progress: store.upload(path, name, lambda _: progress()),
            factor=UPLOAD_FACTOR,
        )

    def _work(
        self, work: Callable[[Store, Callable[[], None]], _Result], progress: Callable[[], None]
    ) -> _Result:
        """Lend a store to work: to one call at a time, unless its library permits more.

        One whose call has failed or never ended is not used again, as its connection may be lost.
        """
        store = self._take() or self._given_store or open_store(self._url)
        if store.is_concurrent:
            self._idle.append(store)
        try:
            result = work(store, progress)
        except BaseException:
            with contextlib.suppress(ValueError):  # another call has failed, too
                self._idle.remove(store)
            raise
        if not store.is_concurrent:
            self._idle.append(store)
        return result

    def _take(self) -> Store | None:
        if self._process != os.getpid():  # after a fork two processes would share connections
            self._process, self._idle = os.getpid(), []
        with contextlib.suppress(IndexError):  # not a lock: a fork would copy it while it is held
            return self._idle.pop()
        return None
