"""The remote cache that the environment names, and which of its samples a dataset may use."""

from __future__ import annotations

from functools import cache as cached
from functools import partial
from typing import TYPE_CHECKING

from registry import LockError
from registry.api import Opening, check_received, check_samples, check_unpublished, samples_id
from registry.plugins.remote_cache.record import SAMPLES, Record
from registry.plugins.remote_cache.remote_cache import Check, RemoteCache

if TYPE_CHECKING:
    from registry.api import (
        ArrowDataset,
        Boundary,
        Cache,
        CacheEntry,
        DatasetSpec,
        Pin,
        Remote,
        Report,
    )

__all__ = ["RemoteSamples", "check_remote", "open_remote_cache", "remote_samples_of"]

Reviewed = tuple["DatasetSpec", "Pin"]
"""A manifest as written, and the pin that was made for exactly that."""


@cached
def open_remote_cache(remote: Remote) -> RemoteCache:
    """Return the remote cache of the settings, the same one for all datasets of this process."""
    return RemoteCache(remote)


def remote_samples_of(
    cache: Cache,
    remote: Remote,
    *,
    dataset: str,
    reviewed: Reviewed | None,
    boundary: Boundary,
    offline: bool,
) -> RemoteSamples | None:
    """Return what the remote cache has of a dataset; None if asking it needs a request, offline."""
    opened = open_remote_cache(remote)
    if offline and not opened.is_local:
        return None
    check = partial(check_remote, cache=cache, boundary=boundary, reviewed=reviewed)
    # The digest of a view with ids of its own does not depend on those that are stored.
    is_proof = reviewed is not None and not reviewed[0].view.auto_id
    pinned = reviewed[1].samples if reviewed is not None and is_proof else None
    return RemoteSamples(opened, dataset=dataset, pinned=pinned, check=check)


def check_remote(
    entry: CacheEntry, *, cache: Cache, boundary: Boundary, reviewed: Reviewed | None
) -> None:
    """Check samples that another machine built, before they are published locally.

    Raises:
        CacheError: they are no samples, or not those that their metadata describes.
        LockError: they are not those that the lockfile pins, also for a trusted writer's.
        ExpectationError: they would fail what the manifest expects.
    """
    check_received(entry.folder / SAMPLES, entry.meta)
    if reviewed is not None:
        spec, pin = reviewed
        # Nothing proves the counts of questionable samples, but those of a pin fail no expectation.
        check_samples(spec, entry.meta)
        check_unpublished(entry, Opening.of(spec, boundary), cache, partial(_compare, pin=pin))


def _compare(dataset: ArrowDataset, *, pin: Pin) -> None:
    found = samples_id(dataset)
    if found != pin.samples_id:
        raise LockError(f"its samples are not those of datasets.lock: found {found.ordered}")


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
