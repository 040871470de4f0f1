"""Pins of sources: which bytes or commit a source had, and how it may be read."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, field
from msgspec.structs import replace

from registry.base.digest import digest_of
from registry.base.local_files import FileState
from registry.base.locations import Location
from registry.boundary.boundary import Boundary
from registry.errors import SourceError
from registry.progress import Deadline, Report, silent
from registry.settings import deadline_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.base.executor import Executor, Workers
    from registry.base.materials import Material, Parts
    from registry.cache.cache import Cache
    from registry.cache.folders import Kind
    from registry.cache.remote import RemoteSamples
    from registry.manifest.source import Repository

__all__ = [
    "Expected",
    "PartsError",
    "PinnedFile",
    "Pins",
    "SourceContext",
    "SourcePin",
    "UnknownDigestError",
]


class Expected(Protocol):
    """What the lockfile says about a dataset's sources.

    A Protocol, so that `sources` need not import the package `lockfile`, which implements it.
    """

    @property
    def dataset(self) -> str:
        """Name of the dataset, for messages."""

    @property
    def complete(self) -> bool:
        """Whether an unpinned source is an error; otherwise it is pinned now."""

    @property
    def compare(self) -> bool:
        """Whether local files are compared with their digests."""

    def files(self, path: Location) -> Sequence[tuple[Location, Material]] | None:
        """Return location and pin of each file that a path matches; None if it is not pinned.

        Raises:
            LockStaleError: the path is not pinned, and `complete` is true.
        """

    def revision(self, repository: Repository) -> str | None:
        """Return the pinned commit of a repository; None and errors as in `files`."""


def _no_remote() -> None:
    """Return that no other cache is asked."""


class SourceContext(Struct, frozen=True, kw_only=True):
    """How sources may be read."""

    boundary: Boundary
    """What the sources may reach."""
    cache: Cache
    offline: bool = False
    """Make no requests."""
    refresh: bool = False
    """Pin and download again, even if the data is cached."""
    whole: bool = True
    """Whether complete files may be read for their digests; otherwise UnknownDigestError."""
    reread: bool = False
    """Digest bytes that are here again, rather than trust what the cache remembers of them."""
    parts: bool = False
    """Whether files may be read in the parts that are pinned; to need more is a PartsError."""
    lock: Expected | None = None
    """What the lockfile pins; other sources are pinned at their current version."""
    dataset: str = ""
    """Name of the dataset, for processes that wait for this one."""
    report: Report = silent
    deadline: Deadline = field(default_factory=lambda: Deadline(deadline_seconds()))
    """How long nothing may happen; a context serves one dataset."""
    workers: Workers | None = None
    """Processes that do whole builds, where several datasets are built at once."""
    elsewhere: Executor | None = None
    """Where the files of a source can be mapped, each by itself."""
    remote: Callable[[], RemoteSamples | None] = _no_remote
    """Returns what the remote cache has of the dataset; called if the local cache lacks it."""
    lookups: dict[str, Any] = field(default_factory=dict)
    """Answers of servers so far: a context serves one operation, with one request for each."""

    def sent(self) -> SourceContext:
        """Return what another process needs of it; the rest is about the process that has it."""
        return replace(
            self,
            # What it depends on is noted here.
            cache=replace(self.cache, used=None),
            report=silent,
            deadline=Deadline(self.deadline.seconds),
            workers=None,
            elsewhere=None,
            remote=_no_remote,
            lookups={},
        )

    @contextlib.contextmanager
    def working(self, kind: Kind, fingerprint: str) -> Iterator[SourceContext]:
        """Hold the lock of an entry of the cache; yield the context to do its work with.

        Raises:
            CacheError: the process that holds the lock makes no progress until the deadline.
        """
        # 0 means that no request is repeated, not that another process is not waited for.
        deadline = self.deadline if self.deadline.seconds else Deadline(deadline_seconds())
        with self.cache.working(
            kind, fingerprint, dataset=self.dataset, report=self.report, deadline=deadline
        ) as report:
            yield replace(self, report=report)


class UnknownDigestError(SourceError):
    """A digest requires reading a complete file, which `whole` does not allow."""


class PartsError(UnknownDigestError):
    """More of a file is needed than its pinned parts."""


class PinnedFile(Struct, frozen=True):
    """One file of a source."""

    location: Location
    """For the file system; may contain a secret."""
    sha256: str
    """Digest of its bytes, 64 hex digits; empty in a probe."""
    size: int
    """Bytes."""
    etag: str | None = None
    """ETag that its server gave with them."""
    version_id: str | None = None
    """VersionId of the object."""
    requested: str = ""
    """The path in the manifest, if it is a glob or a folder."""
    state: FileState | None = None
    """State of a local file when it was hashed or probed."""
    is_stated: bool = False
    """Whether the manifest states the digest."""
    is_mirror: bool = False
    """Whether the location is a mirror's."""
    parts: Parts | None = None
    """The parts that the lockfile has a digest of, beside that of the whole file."""


class SourcePin(Struct, frozen=True):
    """The version of a source: enough to know whether a cached result has the same data."""

    identity: dict[str, Any]
    """Everything that determines the records, as JSON data without secrets."""
    files: tuple[PinnedFile, ...] = ()
    """Its files."""
    revision: str | None = None
    """The commit of a repository."""
    contents: tuple[PinnedFile, ...] = ()
    """The files of a local folder, which `datasets` reads in place."""

    @property
    def digest(self) -> str:
        """Digest of the identity."""
        return digest_of(self.identity)


class Pins(Struct, frozen=True):
    """What the records and the mapping of a dataset are made of, as it is now."""

    sources: tuple[SourcePin, ...]
    side: SourcePin | None = None
    """The pin of the lookup table of `join`."""
    code: str | None = None
    """Digest of the source files of the mapper's package."""
    corrections: SourcePin | None = None
    """The pin of the corrections file."""
    companion: Pins | None = None
    """Those of the dataset that few-shot examples are taken from."""

    def without_corrections(self) -> Pins:
        """Return the pins of the same dataset without its corrections, and of its examples."""
        companion = None if self.companion is None else self.companion.without_corrections()
        return replace(self, corrections=None, companion=companion)

    @property
    def all_sources(self) -> tuple[SourcePin, ...]:
        """The pins of what `DatasetSpec.all_sources` names."""
        own = (one for one in (self.side, self.corrections) if one is not None)
        examples = () if self.companion is None else self.companion.all_sources
        return (*self.sources, *own, *examples)
