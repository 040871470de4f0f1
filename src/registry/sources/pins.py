"""What a source held when it was pinned, and how it may be read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, field

from registry.base.digest import digest_of
from registry.base.file_state import FileState
from registry.errors import SourceError
from registry.progress import Report, silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.cache import Cache
    from registry.manifest.source import Repository

__all__ = [
    "Expected",
    "ExpectedFile",
    "PinnedFile",
    "Pins",
    "SourceContext",
    "SourcePin",
    "UnknownDigestError",
]


class ExpectedFile(Protocol):
    """What the lockfile says about one file."""

    @property
    def sha256(self) -> str | None:
        """Digest of its bytes, 64 hex digits."""

    @property
    def size(self) -> int | None:
        """Bytes."""

    @property
    def etag(self) -> str | None:
        """ETag that its server gave with them."""

    @property
    def version_id(self) -> str | None:
        """VersionId of the object."""


class Expected(Protocol):
    """What the lockfile says about a dataset's sources.

    A Protocol, so that sources need not import the package `lockfile`, which implements it.
    """

    @property
    def dataset(self) -> str:
        """Name of the dataset, for messages."""

    @property
    def complete(self) -> bool:
        """Whether a source that is not pinned is an error; else it is pinned now."""

    @property
    def compare(self) -> bool:
        """Whether local files are compared with their digests."""

    def files(self, path: str) -> Sequence[tuple[str, ExpectedFile]] | None:
        """Return the location and the pin of each file that a path stands for; None if not pinned.

        Raises:
            LockStaleError: the path is not pinned, and `complete` is true.
        """

    def revision(self, repository: Repository) -> str | None:
        """Return the pinned commit of a repository; None and errors as for `files`."""


class SourceContext(Struct, frozen=True, kw_only=True):
    """How sources may be read."""

    cache: Cache
    offline: bool = False
    """No requests."""
    refresh: bool = False
    """Pin and download again, whatever the cache holds."""
    whole: bool = True
    """Whether whole files may be read to learn their digests; else UnknownDigestError."""
    lock: Expected | None = None
    """What the lockfile pins; other sources are pinned as they are now."""
    report: Report = silent
    lookups: dict[str, Any] = field(default_factory=dict)
    """What servers answered so far: a context is of one operation, which asks each once."""


class UnknownDigestError(SourceError):
    """A digest is only known after reading a whole file, which `whole` does not allow."""


class PinnedFile(Struct, frozen=True):
    """One file of a source."""

    location: str
    """Path or URL, as the file system takes it; may contain a secret."""
    sha256: str
    """Digest of its bytes, 64 hex digits; empty in a probe."""
    size: int
    """Bytes."""
    etag: str | None = None
    """ETag that its server gave with them."""
    version_id: str | None = None
    """VersionId of the object."""
    requested: str = ""
    """The path in the manifest, if that is a glob or a folder."""
    state: FileState | None = None
    """State of the local file when it was hashed; None if it was not."""


class SourcePin(Struct, frozen=True):
    """What a source held: enough to know whether a cached result is of the same data."""

    identity: dict[str, Any]
    """What determines the records, as JSON data without secrets."""
    files: tuple[PinnedFile, ...] = ()
    """Its files."""
    revision: str | None = None
    """The commit of a repository."""
    contents: tuple[PinnedFile, ...] = ()
    """The files of a local folder, which `datasets` reads from where they are."""

    @property
    def digest(self) -> str:
        """Digest of the identity."""
        return digest_of(self.identity)


class Pins(Struct, frozen=True):
    """The pins of all sources of a dataset."""

    sources: tuple[SourcePin, ...]
    side: SourcePin | None = None
    """The pin of the lookup table of `join`."""
