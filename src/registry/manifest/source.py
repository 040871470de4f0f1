"""What the keys of a source say without a look at the data; a type of source overrides it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

from msgspec import Struct

from registry.base.locations import is_local, public_location

__all__ = ["Repository", "Source", "SourceModel", "is_commit"]

_COMMIT = re.compile(r"[0-9a-f]{40}")


def is_commit(revision: str | None) -> bool:
    """Return whether a revision of the Hub is a full commit, which never moves."""
    return revision is not None and _COMMIT.fullmatch(revision) is not None


class Repository(NamedTuple):
    """A repository and the revision of it that a source asks for."""

    path: str
    """Its name: `owner/name`."""
    revision: str | None
    """Commit, tag or branch; None is the default branch."""

    @property
    def location(self) -> str:
        """What a lockfile calls it."""
        return f"hf://datasets/{self.path}"


class Source:
    """What is known about a source without reading it; a type overrides what differs.

    A plain class, not a Struct: msgspec would make a Struct of exactly this class, and passes what
    it does not know to `to_source`, which looks the type up in the table.
    """

    __slots__ = ()

    type: ClassVar[str]
    """Key of a manifest that tells one type of source from another."""
    reader: ClassVar[str]
    """`module:class` of the `SourceType` that reads it; imported when it is needed."""
    suffixes: ClassVar[tuple[str, ...]] = ()
    """Suffixes of files that `get_dataset(source=…)` and `add` take to be of this type."""
    location_keys: ClassVar[frozenset[str]] = frozenset({"path", "fs_options"})
    """Keys that say where the bytes are, and not how they become records."""
    shuffle_order: ClassVar[Literal["file", "hub"]] = "file"
    """Whose order `shuffle` gives: that of `random.shuffle`, or that of `datasets`."""
    is_stream: ClassVar[bool] = True
    """Whether reading may stop at any record; else the number of records is fixed beforehand."""
    columns_vary: ClassVar[bool] = False
    """Whether a record may have columns that the first one lacks."""

    path: str | tuple[str, ...]
    """Where its bytes are."""
    columns: dict[str, Any]
    """Columns with a constant value that each record gets."""

    @property
    def location(self) -> str:
        """Where the records come from, for messages: without secrets."""
        return next((public_location(path) for path in self.paths()), self.type)

    @property
    def repository(self) -> Repository | None:
        """The repository that it reads, if any."""
        return None

    @property
    def is_remote(self) -> bool:
        """Whether reading it may need a request."""
        return self.repository is not None or not all(map(is_local, self.paths()))

    @property
    def builds_anew(self) -> bool:
        """Whether its samples are built at each load that may look upstream."""
        return False

    @property
    def base_location(self) -> str | None:
        """The file that relative names of files in samples are beside; None keeps the names."""
        return None

    @property
    def fs_options(self) -> dict[str, Any]:
        """Options of the file system of its paths."""
        return {}

    @property
    def column_names(self) -> Sequence[str] | None:
        """The columns of its records, where the manifest lists them."""
        return None

    def paths(self) -> Sequence[str]:
        """Return the files, globs and folders that it asks for; a repository has none."""
        return ()

    def rename_paths(self, rename: Callable[[str], Any]) -> dict[str, Any]:
        """Return the keys that hold `paths()`, each path replaced by what `rename` returns."""
        return {}

    def loader_call(self, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
        """Return the loader that reads the same records, and its arguments; None if none does.

        `given` has the keys that differ from their defaults, without `type`, `path`, `columns`.
        """
        return None

    def loader_notes(self) -> Iterator[str]:
        """Yield what the call of the loader leaves out."""
        return iter(())

    @classmethod
    def infer_keys(cls, location: str) -> dict[str, Any]:
        """Return the keys, beside `type` and `path`, that the suffix of a file implies."""
        return {}

    @classmethod
    def repository_of(cls, keys: Mapping[str, Any]) -> Repository | None:
        """Return the repository that keys of a manifest name, which need not be valid."""
        return None

    @classmethod
    def absolute_paths(
        cls, keys: Mapping[str, Any], inherited: Mapping[str, Any], folder: Path
    ) -> dict[str, Any]:
        """Return the keys that hold paths, made absolute: in manifests they are relative.

        Args:
            keys: As the manifest gives them; they need not be valid.
            inherited: Keys of the source that these change.
            folder: What paths are relative to.
        """
        return {}

    @classmethod
    def normalized(cls, keys: dict[str, Any]) -> dict[str, Any]:
        """Return keys of a manifest without short forms."""
        return keys


class SourceModel(
    Struct, Source, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"
):
    """The keys that every type has."""

    columns: dict[str, Any] = {}
    """Columns with a constant value that each record gets."""
