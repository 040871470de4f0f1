"""What the core asks of a remote cache, a cache that machines share; a plugin provides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from registry.cache.cache import Cache, CacheEntry
    from registry.progress import Report

__all__ = ["RemoteCache", "RemoteSamples"]


class RemoteSamples(Protocol):
    """The samples of one dataset in a remote cache."""

    def has(self, fingerprint: str) -> bool:
        """Return whether there is an entry that may be used; it may still turn out to be wrong."""

    def fetch(
        self, cache: Cache, fingerprint: str, *, limit: int | None, report: Report
    ) -> CacheEntry | None:
        """Publish an entry in the local cache; None, and never again, if it can't be used."""


class RemoteCache(Protocol):
    """A cache that machines share."""

    @property
    def shown(self) -> str:
        """Where it is, without secrets."""

    def push(self, entry: CacheEntry, *, replace: bool = False) -> str:
        """Store an entry; return `pushed`, or `present` if it was there.

        Raises:
            CacheError: it can't be stored.
        """
