"""The closed list of what samples depend on, as digests that are equal on every machine.

The lockfile, loads, `lock --check`, `diff`, `sync --reviewed` and bundles read this one value, so
that nothing which one of them compares can be missing from another.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Literal

from msgspec import Meta, Struct

from registry.base.conversion import Count, Text

__all__ = ["Digest", "Material", "Materials", "Original", "Parts", "SamplesId", "Sha256", "State"]

# In Python's `re`, `$` alone also matches before a line break at the end.
_END = r"$(?!\n)"
Digest = Annotated[str, Meta(pattern=rf"^sha256:[0-9a-f]{{64}}{_END}")]
Sha256 = Annotated[str, Meta(pattern=rf"^[0-9a-f]{{64}}{_END}")]

State = Literal["floating", "commit", "verified"]
"""How far samples are determined: not at all, by commits that the manifest names, by a pin."""


class SamplesId(Struct, frozen=True, forbid_unknown_fields=True):
    """Which samples a dataset has: what its pin, a review and a build are compared by."""

    number: int
    ordered: str
    """Digest of the samples in their order."""
    named: str = ""
    """Digest of the local files that they name; empty if there are none, or a pin has them."""

    def __str__(self) -> str:
        return ", ".join(filter(None, [f"{self.number:,}", self.ordered, self.named]))


class Parts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The parts of a remote Parquet file that samples are made of, by a digest of their own."""

    columns: Annotated[tuple[str, ...], Meta(min_length=1)]
    """The columns that are read; with their chunks come the last bytes of the file."""
    size: Count
    """Bytes of the parts."""
    sha256: Sha256
    """Digest of their positions, lengths and bytes, as `decode.parquet_parts` writes them."""


class Material(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A file or folder, identified by its digest, or a repository of the Hub, by its commit."""

    location: Text
    """Path relative to the index, or URL without secrets; a folder's ends with a slash."""
    requested: Text | None = None
    """The glob, folder or branch in the manifest, if it differs from the location."""
    revision: Annotated[str, Meta(pattern=rf"^[0-9a-f]{{40}}{_END}")] | None = None
    """Commit of a repository."""
    etag: Text | None = None
    """ETag that the server sent with these bytes."""
    version_id: Text | None = None
    """Version id of the object in cloud storage."""
    size: Count | None = None
    """Bytes of the file; of a folder, of all its files that are used."""
    sha256: Sha256 | None = None
    """Digest of the file's bytes; of a folder, of the names and digests of those files."""
    parts: Parts | None = None
    """What is fetched in place of the whole file; as long as the manifest stays as it is."""

    def __post_init__(self) -> None:
        if self.revision is None and self.sha256 is None:
            raise ValueError("neither `revision` nor `sha256`")

    @property
    def short(self) -> str:
        """Seven hex digits that identify this version, for display."""
        return (self.revision or self.sha256 or "")[:7]


class Original(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which samples a dataset has without its corrections."""

    samples: Count
    ordered: Digest
    unordered: Digest


class Materials(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Everything that the samples of a dataset depend on beside its manifest, and the samples."""

    sources: Annotated[tuple[Material, ...], Meta(min_length=1)]
    """Its files and repositories in reading order, then its lookup table and corrections."""
    files: tuple[Material, ...] = ()
    """Local files that its samples name: media, and what is copied into the sandbox."""
    sandbox: tuple[Material, ...] = ()
    """Local files that run in the sandbox, or configure it."""
    images: tuple[Text, ...] = ()
    """Container images that these files name without a digest, so that they are not pinned."""
    code: Mapping[Text, Digest] = {}
    """The mapper's top-level package, with the digest of its source files."""
    samples: Count
    """Number of samples."""
    ordered: Digest
    """Digest of the samples in their order."""
    unordered: Digest
    """Digest of the samples in any order."""
    original: Original | None = None
    """The samples as the source has them, for a dataset with corrections."""

    def has_file(self, path: str, *, of: tuple[str, ...] = ("files", "sandbox")) -> bool:
        """Return whether a file that samples name has a row, or its folder has one."""
        rows = {row.location for key in of for row in getattr(self, key)}
        return path in rows or f"{os.path.dirname(path)}/" in rows

    @property
    def samples_id(self) -> SamplesId:
        """Which samples the dataset had."""
        return SamplesId(self.samples, self.ordered)

    @property
    def versions(self) -> list[tuple[str, str | None]]:
        """Location of each source, and the commit or digest of its bytes."""
        return [(one.location, one.revision or one.sha256) for one in self.sources]
