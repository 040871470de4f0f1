"""The interface of a source: what its keys define, without reading any data."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, Self

from msgspec import Struct

from registry.base.locations import Location

__all__ = ["OF_BYTES", "Repository", "Source", "SourceModel", "is_commit", "revision_in"]

OF_BYTES = ("sha256", "mirrors")
"""Keys about the bytes of a `path`, which are not inherited with another path."""
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Addresses of files in a repository.
_REVISION = r"(?P<revision>(?:refs/\w+/)?[^/]*)"
_UNDER_REVISION = (
    rf"hf://(?:(?:datasets|spaces|models)/)?[^/@]+/[^/@]+(?:@{_REVISION})?/",
    rf"https?://huggingface\.co/(?:datasets/)?[^/]+/[^/]+/(?:resolve|raw)/{_REVISION}/",
    rf"https?://raw\.githubusercontent\.com/[^/]+/[^/]+/{_REVISION}/",
    rf"https?://github\.com/[^/]+/[^/]+/raw/{_REVISION}/",
    r"https?://github\.com/[^/]+/[^/]+/archive/(?P<revision>.+?)\.(?:zip|tar\.gz)$",
)


def is_commit(revision: str | None) -> bool:
    """Return whether a Hub revision is a full commit hash, which always names the same data."""
    return revision is not None and _COMMIT.fullmatch(revision) is not None


def revision_in(location: Location) -> str | None:
    """Return the commit, tag or branch in the address of a file of a repository, maybe empty.

    None if it is no such address. Of a member of an archive, that is the archive's.
    """
    for pattern in _UNDER_REVISION:
        if found := re.match(pattern, location.file):
            return found["revision"] or ""
    return None


class Repository(NamedTuple):
    """A repository and its requested revision."""

    path: str
    """Its name: `owner/name`."""
    revision: str | None
    """Commit, tag or branch; None means the default branch."""

    @property
    def location(self) -> str:
        """Its location in a lockfile."""
        return f"hf://datasets/{self.path}"


class Source:
    """The defaults of all source types; each type overrides what differs.

    A plain class, not a Struct: msgspec would decode a Struct field to exactly this class, but
    passes a plain class to `to_source`, which looks up the type in `SOURCE_TYPES`.
    """

    __slots__ = ()

    type: ClassVar[str]
    """Value of `type` in a manifest."""
    reader: ClassVar[str]
    """`module:class` of the `SourceType` that reads it; imported on first use."""
    schema: ClassVar[Mapping[str, Any]] = {}
    """JSON Schema of the keys of a type that another package adds; ours are in `schemas/`."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """File suffixes from which `get_dataset(source=…)` and `add` infer this type."""
    location_keys: ClassVar[frozenset[str]] = frozenset({"path", "fs_options"})
    """Keys that define where the bytes are, not how they become records."""
    shuffle_order: ClassVar[Literal["file", "hub"]] = "file"
    """The order after `shuffle`: that of `random.shuffle` (file) or of `datasets` (hub)."""
    is_stream: ClassVar[bool] = True
    """Whether reading may stop at any record; else the number of records must be known first."""
    columns_vary: ClassVar[bool] = False
    """Whether a record may have columns that the first record lacks."""

    path: str | tuple[str, ...]
    """Paths or URLs of the files, or a repository."""
    columns: dict[str, Any]
    """Columns with a constant value, added to each record."""

    @property
    def captures(self) -> tuple[str, ...]:
        """The columns whose values are parts of the files' names, as in `{language}.csv`."""
        return ()

    def of_file(self, location: str) -> Self:
        """Return the source with what the name of one of its files says as constant columns."""
        return self

    @property
    def location(self) -> str:
        """Where the records come from, without secrets, for messages."""
        return next((path.public for path in self.paths()), self.type)

    @property
    def repository(self) -> Repository | None:
        """The repository that it reads, if any."""
        return None

    @property
    def is_remote(self) -> bool:
        """Whether reading it may need a request."""
        return self.repository is not None or not all(path.is_local for path in self.paths())

    @property
    def stated(self) -> Mapping[str, str]:
        """The sha256 of the bytes of each path, if the manifest has them."""
        return {}

    @property
    def mirrors(self) -> Sequence[str]:
        """Other places of the same bytes: files, or folders that end with `/`."""
        return ()

    @property
    def has_commit(self) -> bool:
        """Whether all that it reads from elsewhere is at a commit, so that its bytes can't move.

        The same holds for bytes of which the manifest has the digest.

        A file of another package is that of whichever release is installed.
        """
        if self.repository is not None:
            return is_commit(self.repository.revision)
        return all(
            path.is_path or is_commit(revision_in(path)) or path in self.stated
            for path in self.paths()
        )

    @property
    def builds_anew(self) -> bool:
        """Whether its samples are rebuilt on every load that may access the network."""
        return False

    @property
    def base_location(self) -> Location | None:
        """The file whose folder relative file names in samples start from; None keeps the names."""
        return None

    @property
    def fs_options(self) -> dict[str, Any]:
        """Options for the file system of its paths."""
        return {}

    @property
    def column_names(self) -> Sequence[str] | None:
        """The columns of its records; None if the manifest does not list them."""
        return None

    def paths(self) -> Sequence[Location]:
        """Return the requested files, globs and folders; a repository has none."""
        return ()

    def rename_paths(self, rename: Callable[[str], Any]) -> dict[str, Any]:
        """Return the keys that contain `paths()`, with `rename` applied to each path."""
        return {}

    def loader_call(self, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """Return the Inspect loader for the same records, and its arguments; None without one.

        `given` has the keys that differ from their defaults, without `type`, `path`, `columns`.
        """
        return None

    def loader_notes(self) -> Iterator[str]:
        """Yield what the loader call does not reproduce."""
        return iter(())

    @classmethod
    def infer_keys(cls, location: Location) -> dict[str, Any]:
        """Return the keys, other than `type` and `path`, implied by a file's suffix."""
        return {}

    @classmethod
    def repository_of(cls, keys: Mapping[str, Any]) -> Repository | None:
        """Return the repository in the keys of a manifest, which need not be valid."""
        return None

    @classmethod
    def absolute_paths(
        cls, keys: Mapping[str, Any], inherited: Mapping[str, Any], folder: Path
    ) -> dict[str, Any]:
        """Return the keys that contain paths, with the paths made absolute.

        Args:
            keys: As in the manifest; they need not be valid.
            inherited: Keys of the source that these override.
            folder: The folder that relative paths start from.
        """
        return {}

    @classmethod
    def local_keys(cls, keys: Mapping[str, Any]) -> tuple[str, ...]:
        """Return which of the keys of a manifest have paths of local files, or URLs."""
        return ()

    @classmethod
    def inner_keys(cls, keys: Mapping[str, Any]) -> tuple[str, ...]:
        """Return which of the keys of a manifest have paths within the folder or repository."""
        return ()

    @classmethod
    def normalized(cls, keys: dict[str, Any]) -> dict[str, Any]:
        """Return the keys of a manifest with short forms expanded."""
        return keys


class SourceModel(
    Struct, Source, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"
):
    """The keys that all types share."""

    columns: dict[str, Any] = {}
    """Columns with a constant value, added to each record."""
