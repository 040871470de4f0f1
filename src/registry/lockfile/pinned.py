"""How a dataset is held to its pin: which bytes its sources must be, decided before any request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from registry.errors import LockStaleError
from registry.lockfile.models import Lock, LockedSource, Pin
from registry.lockfile.spec_digest import location_in, portable, requested_location, spec_digest
from registry.manifest.models import DatasetSpec
from registry.manifest.source import Repository, Source, is_commit

__all__ = [
    "DEFAULT_BRANCH",
    "PinnedSources",
    "SourcePinner",
    "changes",
    "pin_sources",
    "source_pinner",
]

DEFAULT_BRANCH = "HEAD"
"""What a lockfile calls the default branch of a repository."""

_DIGEST = "sha256:"


class PinnedSources(Struct, frozen=True, kw_only=True):
    """The pinned sources of a dataset, by what its manifest asks for."""

    dataset: str
    """Its name, for messages."""
    folder: Path
    """What portable paths are relative to."""
    sources: tuple[LockedSource, ...]
    """What the pin says they hold."""
    complete: bool = True
    """Whether a source that is not among them is an error; else it is looked up."""
    any_branch: bool = False
    """Whether a repository's commit stands for whatever branch the manifest names."""
    compare: bool = True
    """Whether local files are compared; else only what the cache has of the pin can be found."""
    samples: Pin | None = None
    """What the samples must be, where the pin is of exactly this manifest."""

    def files(self, path: str) -> list[tuple[str, LockedSource]] | None:
        """Return the files that a path, a glob or a folder stands for; None looks them up.

        Raises:
            LockStaleError: they are not pinned, and nothing may be looked up.
        """
        requested = requested_location(path, self.folder)
        found = [
            one
            for one in self.sources
            if one.sha256 and (one.requested or one.location) == requested
        ]
        if not found:
            self._refuse(portable(path, self.folder))
            return None
        return [(self._location(one, path), one) for one in found]

    def _location(self, one: LockedSource, path: str) -> str:
        is_path = one.requested is None or one.requested.startswith(_DIGEST)
        return path if is_path else location_in(self.folder, one.location)

    def revision(self, repository: Repository) -> str | None:
        """Return the commit of a repository's revision; None looks it up.

        Raises:
            LockStaleError: it is not pinned, and nothing may be looked up.
        """
        location, revision = repository.location, repository.revision
        here = [one for one in self.sources if one.revision and one.location == location]
        for one in here:
            if (revision or DEFAULT_BRANCH) in (one.revision, one.requested):
                return one.revision
        if self.any_branch and here and not is_commit(revision):
            return here[0].revision
        self._refuse(location if revision is None else f"{location} at {revision}")
        return None

    def _refuse(self, what: str) -> None:
        """Raise an error for what is not pinned, unless it may be looked up."""
        if self.complete:
            way_out = f"(`python -m registry lock {self.dataset}` does)"
            raise LockStaleError(self.dataset, f"datasets.lock does not pin {what} {way_out}")


def pin_sources(
    spec: DatasetSpec,
    pin: Pin | None,
    *,
    locked: bool = False,
    frozen: bool = False,
) -> PinnedSources | None:
    """Decide how a dataset is held to its pin; None leaves it to what its sources hold now.

    Args:
        spec: The dataset as its manifest says, without overrides.
        pin: Its pin, if it has one.
        locked: Refuse a dataset without a pin, or with one of another manifest.
        frozen: Refuse only what has no pin; take its bytes whatever else has changed.

    Raises:
        LockStaleError: it is refused.
    """
    if pin is None:
        if locked or frozen:
            message = f"datasets.lock does not pin it (`python -m registry lock {spec.name}` does)"
            raise LockStaleError(spec.name, message)
        return None
    agrees = pin.agrees(spec_digest(spec))
    if locked and not agrees:
        raise LockStaleError(
            spec.name,
            f"datasets.lock is of another manifest: {changes(spec, pin)}"
            f" (`python -m registry lock {spec.name}` pins this one)",
        )
    return PinnedSources(
        dataset=spec.name,
        folder=spec.folder,
        sources=pin.sources,
        complete=agrees or frozen,
        any_branch=frozen,
        samples=pin if agrees else None,
    )


SourcePinner = Callable[[DatasetSpec], PinnedSources | None]
"""Decides how a dataset of a catalog is held to its pin."""


def source_pinner(lock: Lock | None, *, locked: bool = False, frozen: bool = False) -> SourcePinner:
    """Return the `pin_sources` of a catalog's lock, with the same arguments."""
    pins = {} if lock is None else lock.pins
    return lambda spec: pin_sources(spec, pins.get(spec.name), locked=locked, frozen=frozen)


def changes(spec: DatasetSpec, pin: Pin) -> str:
    """Say what of a manifest is not as it was pinned, as far as the pin tells."""
    lock = PinnedSources(dataset=spec.name, folder=spec.folder, sources=pin.sources)
    unpinned = [message for source in spec.all_sources for message in _unpinned(source, lock)]
    if unpinned:
        return f"{', '.join(unpinned)} is not pinned"
    return "its sources are those that are pinned, its mapping, steps or view have changed"


def _unpinned(source: Source, lock: PinnedSources) -> Iterator[str]:
    """Yield what of a source is not pinned, as people know it."""
    for path in source.paths():
        try:
            lock.files(path)
        except LockStaleError:
            yield portable(path, lock.folder)
    repository = source.repository
    if repository is not None:
        try:
            lock.revision(repository)
        except LockStaleError:
            path, revision = repository
            yield path if revision is None else f"{path} at {revision}"
