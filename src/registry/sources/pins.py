"""What a source held when it was looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from registry.base.digest import digest_of
from registry.base.file_state import FileState
from registry.errors import SourceError
from registry.progress import Report, silent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.cache import Cache

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
    """What the lockfile says of one file."""

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
    """What the lockfile says of a dataset's sources; the package `lockfile` has the only one."""

    @property
    def dataset(self) -> str:
        """Name of the dataset, for messages."""

    @property
    def complete(self) -> bool:
        """Whether a source that is not pinned is an error; else it is looked up."""

    @property
    def compare(self) -> bool:
        """Whether local files are compared with their digests."""

    def files(self, path: str) -> Sequence[tuple[str, ExpectedFile]] | None:
        """Return the location and the pin of each file that a path stands for.

        None: the path is not pinned, and may be looked up. A LockStaleError: it may not.
        """

    def revision(self, path: str, revision: str | None) -> str | None:
        """Return the pinned commit of a repository; None and errors as for `files`."""


class SourceContext(Struct, frozen=True, kw_only=True):
    """How sources may be looked at."""

    cache: Cache
    offline: bool = False
    """No requests."""
    refresh: bool = False
    """Look again, and fetch again, whatever the cache says."""
    whole: bool = True
    """Whether whole files may be read to learn their digests; else UnknownDigestError."""
    lock: Expected | None = None
    """What the lockfile says the sources are; what it does not pin is looked up."""
    report: Report = silent


class UnknownDigestError(SourceError):
    """A file would have to be read as a whole."""


class PinnedFile(Struct, frozen=True):
    """One file of a source."""

    location: str
    """Path or URL, as the file system takes it; may hold a secret."""
    sha256: str
    """Digest of its bytes, 64 hex digits; empty where only its beginning is to be read."""
    size: int
    """Bytes."""
    etag: str | None = None
    """ETag that its server gave with them."""
    version_id: str | None = None
    """VersionId of the object."""
    asked: str = ""
    """The path of the source that it comes of, where that is a glob or a folder."""
    state: FileState | None = None
    """State of the local file that was looked at; None where none was."""


class SourcePin(Struct, frozen=True):
    """What a source held: enough to tell whether a cached result is of the same data."""

    identity: dict[str, Any]
    """What determines the records, as JSON data without secrets."""
    files: tuple[PinnedFile, ...] = ()
    """Its files, where it consists of files."""
    revision: str | None = None
    """Its commit, where it is a repository."""
    contents: tuple[PinnedFile, ...] = ()
    """The files of a local folder, which are read from where they are."""

    @property
    def digest(self) -> str:
        """Digest of the identity."""
        return digest_of(self.identity)


class Pins(Struct, frozen=True):
    """What all sources of a dataset held when they were looked at."""

    sources: tuple[SourcePin, ...]
    side: SourcePin | None = None
    """Of the side file of `join`."""
