"""What the core asks of a remote cache, a cache that machines share; a plugin provides it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from registry.cache.cache import Cache, CacheEntry
    from registry.progress import Report

__all__ = ["Packed", "Packs", "Pushes", "RemoteCache", "RemoteSamples"]


class RemoteSamples(Protocol):
    """The samples of one dataset in a remote cache."""

    def has(self, fingerprint: str) -> bool:
        """Return whether there is an entry that may be used; it may still turn out to be wrong."""

    def fetch(
        self, cache: Cache, fingerprint: str, *, limit: int | None, report: Report
    ) -> CacheEntry | None:
        """Publish an entry in the local cache; None, and never again, if it can't be used."""


class Packed(NamedTuple):
    """What was stored together."""

    entries: int
    objects: int
    bytes: int


class Pushes(Protocol):
    """Where a run puts what it built: the remote cache, or packs of it."""

    def push(self, entry: CacheEntry, *, replace: bool = False) -> str:
        """Store an entry; return `pushed`, `packed` (at the end) or, if it was there, `present`.

        Raises:
            CacheError: it can't be stored.
        """


class Packs(Pushes, Protocol):
    """Collects the entries of a run."""

    def finish(self) -> Packed:
        """Store them together.

        Raises:
            CacheError: they can't be stored.
        """


class RemoteCache(Pushes, Protocol):
    """A cache that machines share."""

    @property
    def shown(self) -> str:
        """Where it is, without secrets."""

    @property
    def is_local(self) -> bool:
        """Whether it is a folder, which can be read without a request."""

    def expecting(
        self, names: Collection[str], *, lock: str, cache: Cache
    ) -> AbstractContextManager[None]:
        """Fetch what these datasets need in few requests, if it was packed for this lockfile.

        `lock` is the digest of its bytes; the local cache may have some of them.
        """

    def packing(self, *, lock: str, cache: Cache) -> Packs:
        """Return what collects entries of a run, to be packed at its end."""
