"""What a source held when it was looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from registry.base.digest import digest_of
from registry.errors import SourceError
from registry.progress import Report, silent

if TYPE_CHECKING:
    from registry.cache import Cache
    from registry.lockfile.pinned import Held

__all__ = ["Access", "PinnedFile", "Pins", "SourcePin", "UnknownDigestError"]


class Access(Struct, frozen=True, kw_only=True):
    """How sources may be looked at."""

    cache: Cache
    offline: bool = False
    """No requests."""
    refresh: bool = False
    """Look again, and fetch again, whatever the cache says."""
    whole: bool = True
    """Whether whole files may be read to learn their digests; else UnknownDigestError."""
    held: Held | None = None
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
    state: tuple[int, ...] | None = None
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
