"""Apply a pin: decide, before any request, which bytes the sources of a dataset must have."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from functools import partial
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from registry.base.locations import Location, member_name
from registry.base.materials import Material, State
from registry.boundary.paths import match_pieces
from registry.errors import LockError, LockStaleError
from registry.lockfile.models import CommitPin, Pin
from registry.lockfile.spec_digest import location_in, portable, requested_location
from registry.manifest.models import DatasetSpec, without_corrections
from registry.manifest.source import Repository, is_commit

__all__ = [
    "DEFAULT_BRANCH",
    "PinnedSources",
    "SourcePinner",
    "for_call",
    "known_sources",
    "matches",
    "pin_sources",
    "stale_error",
    "staleness",
    "state_of",
    "unpinned_sources",
]

DEFAULT_BRANCH = "HEAD"
"""The name of a repository's default branch in a lockfile."""
# fsspec writes these in several ways: `memory://a` is `memory:///a`, `s3a://a` is `s3://a`.
_SAME_PROTOCOL = {"s3a": "s3"}


class PinnedSources(Struct, frozen=True, kw_only=True):
    """The pinned sources of a dataset, looked up by the paths and revisions in its manifest."""

    dataset: str
    """Its name, for messages."""
    folder: Path
    """The folder that portable paths are relative to."""
    sources: tuple[Material, ...]
    """The sources in the pin."""
    complete: bool = True
    """Whether an unpinned source is an error; if not, it is looked up."""
    any_branch: bool = False
    """Whether the pinned commit of a repository replaces any branch in the manifest."""
    compare: bool = True
    """Whether local files are compared with the pin; if not, only the cache is searched."""
    named: bool = True
    """Whether the files that samples name are compared with the pin."""
    samples: Pin | None = None
    """The pin that the samples must match, if it was made for exactly this manifest."""
    reviewed: tuple[DatasetSpec, Pin] | None = None
    """The manifest as written, and that pin; also if an override asks for another view."""

    def files(self, path: Location) -> list[tuple[Location, Material]] | None:
        """Return the location and pin of each file that a path, glob or folder matched.

        None if no file is pinned, so that they must be looked up.

        Raises:
            LockStaleError: no file is pinned, although all sources must be.
            LockError: a location is pinned that the path can't match.
        """
        requested = requested_location(path, self.folder)
        found = [
            # Another manifest may read other columns than those whose parts are pinned.
            (self._location(path, file), file if self.reviewed else replace(file, parts=None))
            for file in self.sources
            if file.sha256 and (file.requested or file.location) == requested
        ]
        if not found:
            self._refuse(portable(path, self.folder))
        return found or None

    def _location(self, path: Location, file: Material) -> Location:
        """Return the location that a path has according to its pin."""
        # The lockfile has only a digest of a URL with a query, so take the manifest's URL.
        if file.requested is None or file.requested.startswith("sha256:"):
            return path
        # Otherwise an edit of the lockfile alone could make a reviewed glob read any other file.
        if not matches(Location(file.requested), Location(file.location)):
            raise LockError(
                f"{self.dataset}: datasets.lock pins {file.location} for {file.requested}, which"
                f" can't match it (`registry lock --upgrade {self.dataset}` pins what"
                " it matches)"
            )
        return location_in(self.folder, file.location)

    def revision(self, repository: Repository) -> str | None:
        """Return the pinned commit of a repository's revision; None if it must be looked up.

        Raises:
            LockStaleError: it is not pinned, although all sources must be.
        """
        location, revision = repository.location, repository.revision
        pinned = [one for one in self.sources if one.revision and one.location == location]
        # A full commit identifies its bytes, so the pin must not replace it.
        floats = not is_commit(revision)
        for source in pinned:
            if (revision or DEFAULT_BRANCH) == (source.requested if floats else source.revision):
                return source.revision
        if self.any_branch and pinned and floats:
            return pinned[0].revision
        self._refuse(location if revision is None else f"{location} at {revision}")
        return None

    def _refuse(self, source: str) -> None:
        """Raise a LockStaleError for an unpinned source, unless it may be looked up."""
        if self.complete:
            hint = f"(`registry lock {self.dataset}` does)"
            raise LockStaleError(self.dataset, f"datasets.lock does not pin {source} {hint}")


def pin_sources(
    spec: DatasetSpec,
    pin: Pin | None,
    *,
    commit: CommitPin | None = None,
    locked: bool = False,
    frozen: bool = False,
) -> PinnedSources | None:
    """Return the pinned sources of a dataset; None if all must be looked up.

    The dataset is as in its manifest, without overrides. With a `commit` the manifest itself
    determines the bytes.

    Raises:
        LockStaleError: if `locked`, it has no pin, or a pin for an older manifest; if `frozen`,
            only that it has no pin: the pinned bytes are used even of an older manifest.
    """
    if pin is None:
        if (locked or frozen) and commit is None:
            message = f"datasets.lock does not pin it (`registry lock {spec.name}` does)"
            raise LockStaleError(spec.name, message)
        if (locked or frozen) and commit is not None and not commit.agrees(spec):
            raise stale_error(spec, commit)
        return None
    # A pin for an older manifest applies to the bytes only: changed fields or views change the
    # samples, and a source that was added later is not pinned.
    agrees = pin.agrees(spec)
    if locked and not agrees:
        raise stale_error(spec, pin)
    return PinnedSources(
        dataset=spec.name,
        folder=spec.folder,
        sources=pin.sources,
        complete=agrees or frozen,
        any_branch=frozen,
        samples=pin if agrees else None,
        reviewed=(spec, pin) if agrees else None,
    )


def for_call(
    lock: PinnedSources | None, *, unmodified: DatasetSpec, spec: DatasetSpec
) -> PinnedSources | None:
    """Return what is pinned for a dataset as a call asks for it, given that for its manifest."""
    # Not `==` alone, for which True equals 1.
    if lock is None or (unmodified == spec and str(unmodified.view) == str(spec.view)):
        return lock
    if not spec.is_original:
        return replace(lock, samples=None)
    # The pin of the corrected samples has those without corrections too.
    original = without_corrections(unmodified)
    pin = None if lock.reviewed is None else lock.reviewed[1].of_original(original)
    reviewed = None if pin is None else (original, pin)
    samples = pin if spec == original else None
    return replace(lock, samples=samples, reviewed=reviewed)


SourcePinner = Callable[[DatasetSpec], PinnedSources | None]
"""Decides which sources of a dataset are pinned."""


def known_sources(spec: DatasetSpec, pin: Pin) -> PinnedSources:
    """Return the sources in a pin of any manifest; one that it lacks is looked up."""
    return PinnedSources(dataset=spec.name, folder=spec.folder, sources=pin.sources, complete=False)


def state_of(spec: DatasetSpec, pin: Pin | None) -> State:
    """Return how far the samples of a dataset are determined, given its pin."""
    if pin is not None and pin.agrees(spec):
        return "verified"
    return "commit" if spec.has_commit else "floating"


def staleness(spec: DatasetSpec, pin: Pin | CommitPin) -> tuple[str, str]:
    """Return for which other manifest or release a pin was made, and what to do about it."""
    if pin.is_newer:
        return f"in format {pin.format}, of a newer release", "upgrade eval-registry"
    if isinstance(pin, CommitPin):
        fix = f"`registry lock --offline {spec.name}` updates it"
        return "at the commit of an older manifest", fix
    change = "its sources are those pinned, but its mapping, transforms or view changed"
    if unpinned := unpinned_sources(spec, pin):
        change = f"{', '.join(unpinned)} is not pinned"
    return f"for an older manifest: {change}", f"`registry lock {spec.name}` updates the pin"


def stale_error(spec: DatasetSpec, pin: Pin | CommitPin) -> LockStaleError:
    """Return the error of a pin that does not agree with a manifest."""
    reason, hint = staleness(spec, pin)
    return LockStaleError(spec.name, f"datasets.lock pins it {reason} ({hint})")


def unpinned_sources(spec: DatasetSpec, pin: Pin) -> list[str]:
    """Return the files and repositories of a dataset that a pin, of an older manifest, lacks."""
    pinned = PinnedSources(dataset=spec.name, folder=spec.folder, sources=pin.sources)
    unpinned: list[str] = []
    for source in spec.all_sources:
        for path in source.paths():
            try:
                pinned.files(path)
            except LockError:
                unpinned.append(portable(path, spec.folder))
        if source.repository is not None:
            name, revision = source.repository
            try:
                pinned.revision(source.repository)
            except LockStaleError:
                unpinned.append(name if revision is None else f"{name} at {revision}")
    return unpinned


def matches(requested: Location, location: Location) -> bool:
    """Return whether a path, folder or glob can match a location; both are portable names.

    A lockfile is edited as easily as a manifest, so the location that it has for a glob must be one
    that the glob could have found.
    """
    if requested == location:
        return True
    wanted, found = requested.member, location.member
    if wanted is not None or found is not None:
        return (
            wanted is not None
            and found is not None
            and (wanted.protocol, wanted.archive) == (found.protocol, found.archive)
            and _matches_segments(
                member_name(wanted.path).split("/"), member_name(found.path).split("/"), _leads_up
            )
        )
    pattern, path = _segments(requested), _segments(location)
    if requested.is_local and path[: len(pattern)] == pattern:
        return ".." not in path[len(pattern) :]  # in a folder that `datasets` reads
    # As `list_files`: of the wildcards in a path of this machine, none matches a hidden name.
    return _matches_segments(pattern, path, _is_hidden if requested.is_local else _leads_up)


def _segments(location: str) -> list[str]:
    """Return the protocol and the segments of the path."""
    protocol, mark, path = location.partition("://")
    if not mark:
        return location.removeprefix("./").rstrip("/").split("/")
    return [_SAME_PROTOCOL.get(protocol, protocol) + mark, *path.lstrip("/").split("/")]


def _leads_up(segment: str) -> bool:
    return segment == ".."


def _is_hidden(segment: str) -> bool:
    return segment.startswith(".")


def _matches_segments(
    pattern: list[str], path: list[str], is_literal: Callable[[str], bool]
) -> bool:
    """Return whether a glob matches a path: `**` any number of segments, all others one each.

    No wildcard matches the segments that `is_literal` selects.
    """
    if sum(map(is_literal, pattern)) != sum(map(is_literal, path)):
        return False
    tests = [None if part == "**" else partial(_matches_one, part) for part in pattern]
    return match_pieces(tests, path)


def _matches_one(pattern: str, name: str) -> bool:
    return pattern == name or (name not in ("", ".", "..") and fnmatch.fnmatchcase(name, pattern))
