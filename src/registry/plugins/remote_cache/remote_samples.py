"""The samples of one dataset in the remote cache, as a plan asks for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from registry.api import Cache, CacheEntry, Report
    from registry.plugins.remote_cache.record import Record
    from registry.plugins.remote_cache.remote_cache import Check, RemoteCache

__all__ = ["RemoteSamples"]


class RemoteSamples:
    """Looks for entries of one dataset, and fetches them; each is asked for once."""

    def __init__(
        self, remote: RemoteCache, *, dataset: str, pinned: int | None, check: Check
    ) -> None:
        """Create it.

        Args:
            remote: The remote cache.
            dataset: Its name, for warnings.
            pinned: The number of samples that the lockfile pins; None without a pin.
            check: Called with samples before they are published locally.
        """
        self._remote = remote
        self._dataset = dataset
        self._pinned = pinned
        self._check = check
        self._found: dict[str, Record | None] = {}

    def has(self, fingerprint: str) -> bool:
        """Return whether there is an entry that may be used; it may still turn out to be wrong."""
        if fingerprint not in self._found:
            self._found[fingerprint] = self._remote.find(
                fingerprint, pinned=self._pinned, dataset=self._dataset
            )
        return self._found[fingerprint] is not None

    def fetch(
        self, cache: Cache, fingerprint: str, *, limit: int | None, report: Report
    ) -> CacheEntry | None:
        """Publish an entry in the local cache; None, and never again, if it can't be used."""
        record, self._found[fingerprint] = self._found[fingerprint], None
        if record is None:
            return None
        return self._remote.fetch(
            cache,
            record,
            limit=limit,
            check=self._check,
            report=report,
            dataset=self._dataset,
        )
