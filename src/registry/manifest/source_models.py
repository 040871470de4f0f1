"""The types of sources and their keys in a manifest.

A new type needs a model here, in `SOURCE_TYPES`, a reader in a module of `sources`, and a
definition in the manifest schema. No other code depends on the type of a source.
"""

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from registry.base.conversion import Text, convert
from registry.base.locations import Location
from registry.base.materials import Sha256
from registry.errors import ExtensionError, SourceError, count_text
from registry.installation import extension
from registry.manifest.source import Repository, Source, SourceModel, is_commit

__all__ = [
    "CAPTURE",
    "GENERIC_BUILDERS",
    "SOURCE_TYPES",
    "CorrectionsFile",
    "CsvSource",
    "FileSource",
    "HfSource",
    "JsonSource",
    "ParquetSource",
    "data_file_list",
    "infer_source_keys",
    "is_folder",
    "source_model",
    "source_type",
    "to_source",
]

GENERIC_BUILDERS = frozenset({"arrow", "csv", "json", "parquet", "text", "xml"})
"""Paths of a Hub source that are a generic builder of `datasets`, not a repository."""

_Texts = Annotated[tuple[Text, ...], Meta(min_length=1)]
# Python 3.13 refuses the others; before, the csv module read them, each in a way of its own.
_DELIMITER = r'^[^"\r\n]*$(?!\n)'
CAPTURE = re.compile(r"\{([A-Za-z_]\w*)\}")
"""A name in braces in a path."""
_SIGN = re.compile(r"\{([A-Za-z_]\w*)\}|\*\*/|\*+|\?|\[!?\]?[^]/]*\]")
_SIGNS = {"**/": "(?:.*/)?", "*": "[^/]*"}
_LINE_SUFFIXES = frozenset({".jsonl", ".ndjson"})
_REDACTED_NOTE = "add the query (after `?`) or user of the URL, which may be secret"


class FileSource(SourceModel, frozen=True, kw_only=True):
    """Files: one path, several, or globs; local or a URL."""

    reader = "registry.sources.files:FileReader"

    path: _Texts
    """Paths, URLs or globs, read in this order; a glob's files are read in order of their names."""
    fs_options: dict[str, Any] = msgspec.field(default_factory=dict)
    """Options for the file system; write a secret as `{env: NAME}`."""
    sha256: Annotated[tuple[Sha256, ...], Meta(min_length=1)] | None = None
    """The digest of the bytes of each path, or of the archive that it is in."""
    mirrors: tuple[Text, ...] = ()
    """Other places of the same bytes: a file, or a folder, which ends with `/`, for all paths."""

    location_keys = frozenset({"path", "fs_options", "sha256", "mirrors"})

    @property
    def stated(self) -> Mapping[str, str]:
        """The sha256 of the bytes of each path, if the manifest has them."""
        return dict(zip(self.paths(), self.sha256 or (), strict=False))

    @property
    def base_location(self) -> Location:
        """The first path."""
        return self.paths()[0]

    def paths(self) -> Sequence[Location]:
        """Return the paths, with a glob's `*` in the place of each capture."""
        return _locations(self.path)

    @property
    def captures(self) -> tuple[str, ...]:
        """The names in braces in the paths."""
        return tuple(dict.fromkeys(name for path in self.path for name in CAPTURE.findall(path)))

    def of_file(self, location: str) -> Self:
        """Return the source with the captured parts of the name of a file as columns."""
        if not self.captures:
            return self
        for path in self.path:
            found = _pattern_of(path).search(location)
            if found is not None and found.groupdict():
                return replace(self, columns={**self.columns, **found.groupdict()})
        if all(map(CAPTURE.search, self.path)):
            message = f"the names in braces have no values for which {self.path[0]} is this file"
            raise SourceError(f"{location}: {message} (one that is written twice has one value)")
        return self

    def rename_paths(self, rename: Callable[[str], Any]) -> dict[str, Any]:
        """Return `path` with `rename` applied to each path."""
        return {"path": [rename(path) for path in self.path]}

    def loader_notes(self) -> Iterator[str]:
        """Yield what the call lacks: secrets in URLs, and paths after the first."""
        if any(Location(one).has_secret for one in self.path):
            yield _REDACTED_NOTE
        if self.sha256:
            yield "compare the bytes with their sha256"
        if len(self.path) > 1:
            others = ", ".join(Location(one).public for one in self.path[1:])
            yield f"read {count_text(len(self.path) - 1, 'more path')}: {others}"

    @classmethod
    def absolute_paths(
        cls, keys: Mapping[str, Any], inherited: Mapping[str, Any], folder: Path
    ) -> dict[str, Any]:
        """Return `path` and `mirrors` with absolute paths."""
        forms = {"path": _absolute, "mirrors": _absolute_mirror}
        return {
            key: _map_paths(keys[key], functools.partial(form, folder=folder))
            for key, form in forms.items()
            if isinstance(keys.get(key), str | list)
        }

    @classmethod
    def local_keys(cls, keys: Mapping[str, Any]) -> tuple[str, ...]:
        """Return `path` and `mirrors`."""
        return ("path", "mirrors")

    @classmethod
    def normalized(cls, keys: dict[str, Any]) -> dict[str, Any]:
        """Return the keys with a single `path`, `sha256` or `mirrors` as lists."""
        lists = ("path", "sha256", "mirrors")
        single = {key: [keys[key]] for key in lists if isinstance(keys.get(key), str)}
        return {**keys, **single}


@functools.lru_cache(maxsize=256)
def _locations(paths: tuple[str, ...]) -> tuple[Location, ...]:
    return tuple(Location(CAPTURE.sub("*", path)) for path in paths)


@functools.lru_cache(maxsize=256)
def _pattern_of(path: str) -> re.Pattern[str]:
    """Return what matches the end of the locations that a path with captures means.

    The fixed folders at its start may be written in another way in a location.
    """
    parts = path.split("/")
    first = next((number for number, part in enumerate(parts) if _SIGN.search(part)), 0)
    tail, start, pattern, seen = "/".join(parts[first:]), 0, "(?:^|/)", set[str]()
    for sign in _SIGN.finditer(tail):
        pattern += re.escape(tail[start : sign.start()])
        start, name = sign.end(), sign.group(1)
        if name is None:
            literally = re.escape(sign.group())  # the name of a file may look like a glob
            any_sign = ".*" if sign.group().startswith("*") else "[^/]"
            pattern += f"(?:{_SIGNS.get(sign.group(), any_sign)}|{literally})"
        else:
            pattern += f"(?P={name})" if name in seen else f"(?P<{name}>[^/]+)"
            seen.add(name)
    return re.compile(f"{pattern}{re.escape(tail[start:])}$")


class CsvSource(FileSource, frozen=True, kw_only=True, tag="csv"):
    """Comma-separated values; every cell is a str."""

    type = "csv"
    suffixes = (".csv", ".tsv", ".tab")

    encoding: Text = "utf-8"
    """Text encoding; a byte-order mark is accepted."""
    dialect: Literal["unix", "excel", "excel-tab"] = "unix"
    """Dialect of Python's csv module."""
    delimiter: Annotated[str, Meta(min_length=1, max_length=1, pattern=_DELIMITER)] | None = None
    """One character between cells; None means the dialect's."""
    fieldnames: Annotated[tuple[str, ...], Meta(min_length=1)] | None = None
    """Column names of a file without a header."""
    skip_rows: Annotated[int, Meta(ge=0)] = 0
    """Number of rows to skip before the header."""

    @property
    def column_names(self) -> Sequence[str] | None:
        """The names given for a file without a header."""
        return self.fieldnames

    def loader_call(self, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the call to `csv_dataset`."""
        options = {key: value for key, value in given.items() if key != "skip_rows"}
        return "csv_dataset", {"csv_file": Location(self.path[0]).public, **options}

    def loader_notes(self) -> Iterator[str]:
        """Yield what the call lacks."""
        yield from super().loader_notes()
        if (self.dialect, self.delimiter) == ("excel-tab", ","):
            # The loader can't tell an explicit comma from its default and uses the dialect's tab.
            yield "use commas: the loader reads its default delimiter as the dialect's tab"
        if self.skip_rows:
            yield f"skip the first {self.skip_rows} rows"

    @classmethod
    def infer_keys(cls, location: Location) -> dict[str, Any]:
        """Return a tab as the delimiter for suffixes of tab-separated values."""
        return {"delimiter": "\t"} if location.unpacked_suffix in (".tsv", ".tab") else {}


class JsonSource(FileSource, frozen=True, kw_only=True, tag="json"):
    """JSON Lines (`.jsonl`, `.ndjson`, `lines`), or JSON: an array of objects, or one object."""

    type = "json"
    suffixes = (".json", ".jsonl", ".ndjson")
    columns_vary = True

    encoding: Text = "utf-8"
    """Text encoding; a byte-order mark is accepted."""
    records: Text | None = None
    """Key, or dotted path, of the array of objects in a JSON object; `*` takes all values."""
    item: Text | None = None
    """Column for the items of an array that are not objects."""
    lines: bool = False
    """Whether files are JSON Lines whatever their names end with."""

    def is_lines(self, location: Location) -> bool:
        """Return whether a file has an object per line."""
        return self.lines or location.unpacked_suffix in _LINE_SUFFIXES

    def loader_call(self, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the call to `json_dataset`."""
        own = ("records", "item", "lines")
        options = {key: value for key, value in given.items() if key not in own}
        return "json_dataset", {"json_file": Location(self.path[0]).public, **options}

    def loader_notes(self) -> Iterator[str]:
        """Yield what the call lacks."""
        yield from super().loader_notes()
        if self.lines and self.paths()[0].unpacked_suffix not in _LINE_SUFFIXES:
            yield "read an object per line, which the loader does by the suffix .jsonl"


class ParquetSource(FileSource, frozen=True, kw_only=True, tag="parquet"):
    """Parquet files."""

    type = "parquet"
    suffixes = (".parquet",)
    # Inspect reads Parquet with hf_dataset, so its shuffle is the one to reproduce.
    shuffle_order = "hub"

    def loader_call(self, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the call to `hf_dataset` with the builder for Parquet."""
        files = [Location(path).public for path in self.path]
        return "hf_dataset", {"path": "parquet", "split": "train", "data_files": files}

    def loader_notes(self) -> Iterator[str]:
        """Yield what the call lacks; it has all paths."""
        if any(Location(one).has_secret for one in self.path):
            yield _REDACTED_NOTE


class CorrectionsFile(FileSource, frozen=True, kw_only=True, tag="corrections"):
    """The file of `corrections`: pinned as a source, but its rows are not records."""

    type = "corrections"


class HfSource(SourceModel, frozen=True, kw_only=True, tag="hf"):
    """A dataset of the Hugging Face Hub, a local folder, or a generic builder with files."""

    type = "hf"
    reader = "registry.sources.hub.source:HubReader"
    location_keys = frozenset({"path", "revision", "trust", "cached"})
    shuffle_order = "hub"
    is_stream = False

    path: Text
    """Repository `owner/name`, a local folder (`./…` or absolute), or a builder such as `json`."""
    split: Text
    """Split, such as `test`."""
    name: Text | None = None
    """Configuration of the dataset."""
    data_dir: Text | None = None
    """Folder within the repository."""
    data_files: str | list[str] | dict[str, str | list[str]] | None = None
    """A file, a list of files, or a dict from split to files."""
    revision: Text | None = None
    """Commit, tag or branch; a full commit hash pins the dataset."""
    trust: bool = False
    """Only for compatibility with the loaders: a repository's scripts are never run."""
    cached: bool = True
    """False rebuilds the samples on every load, unless the source is pinned."""

    @property
    def location(self) -> str:
        """The repository, folder or builder."""
        return self.path

    @property
    def repository(self) -> Repository | None:
        """The repository, unless `path` is a folder or a builder."""
        return self.repository_of({"path": self.path, "revision": self.revision})

    @property
    def builds_anew(self) -> bool:
        """True for `cached: false`, unless the revision is a commit, so that nothing can change."""
        return not self.cached and not is_commit(self.revision)

    def paths(self) -> Sequence[Location]:
        """Return the files of a builder, or the folder."""
        if self.path in GENERIC_BUILDERS:
            return tuple(map(Location, data_file_list(self.data_files)))
        return (Location(self.path),) if is_folder(self.path) else ()

    def rename_paths(self, rename: Callable[[str], Any]) -> dict[str, Any]:
        """Return the `data_files` of a builder, or the `path` of a folder."""
        if self.path in GENERIC_BUILDERS:
            return {"data_files": _map_paths(self.data_files, rename)}
        return {"path": rename(self.path)} if is_folder(self.path) else {}

    def loader_call(self, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
        """Return the call to `hf_dataset`."""
        return "hf_dataset", {"path": self.path, **given}

    @classmethod
    def repository_of(cls, keys: Mapping[str, Any]) -> Repository | None:
        """Return the repository, unless `path` is a folder or a builder."""
        path = keys.get("path")
        if not isinstance(path, str) or path in GENERIC_BUILDERS or is_folder(path):
            return None
        return Repository(path, keys.get("revision"))

    @classmethod
    def local_keys(cls, keys: Mapping[str, Any]) -> tuple[str, ...]:
        """Return `data_files` for a builder, and `path` for a folder."""
        path = keys.get("path")
        if not isinstance(path, str):
            return ()
        if path in GENERIC_BUILDERS:
            return ("data_files",)
        return ("path",) if is_folder(path) else ()

    @classmethod
    def inner_keys(cls, keys: Mapping[str, Any]) -> tuple[str, ...]:
        """Return the keys that select files of a folder or repository."""
        path = keys.get("path")
        is_builder = isinstance(path, str) and path in GENERIC_BUILDERS
        return () if is_builder else ("data_dir", "data_files")

    @classmethod
    def absolute_paths(
        cls, keys: Mapping[str, Any], inherited: Mapping[str, Any], folder: Path
    ) -> dict[str, Any]:
        """Return a folder's absolute `path`, and the `data_files` of a builder."""
        path, changed = keys.get("path"), dict[str, Any]()
        if isinstance(path, str) and is_folder(path):
            changed["path"] = _absolute(path, folder)
        # The `data_files` of a repository are relative to the repository, so they are unchanged.
        builder = keys.get("path", inherited.get("path"))
        if isinstance(builder, str) and builder in GENERIC_BUILDERS and "data_files" in keys:
            absolute = _map_paths(keys["data_files"], lambda path: _absolute(path, folder))
            changed["data_files"] = absolute
        return changed


SOURCE_TYPES: dict[str, type[Source]] = {
    model.type: model for model in (CsvSource, JsonSource, ParquetSource, HfSource)
}
"""The types of sources of this package, by the `type` of a manifest."""


def source_type(kind: Any) -> type[Source] | None:
    """Return the model of a type of source, also of another package; None if there is none.

    Raises:
        ExtensionError: another package has it, and it can't be used.
    """
    if not isinstance(kind, str):
        return None
    if kind in SOURCE_TYPES:
        return SOURCE_TYPES[kind]
    found = extension("sources", kind)
    if found is None:
        return None
    if not (isinstance(found, type) and issubclass(found, Source) and found.type == kind):
        raise ExtensionError(f"the plugin '{kind}' is no subclass of Source with that type")
    return found


def source_model(keys: Mapping[str, Any]) -> type[Source]:
    """Return the model for keys that need not be valid; `FileSource` if their type is unknown."""
    return source_type(keys.get("type")) or FileSource


def to_source(expected: type, keys: Any) -> Any:
    """Convert keys to a source: the `dec_hook` of models with a field of type `Source`.

    Raises:
        msgspec.ValidationError: the keys do not match the model of their type.
    """
    if expected is not Source:  # msgspec calls this for every class that it can't decode, as Path
        return keys
    kind = keys.get("type") if isinstance(keys, dict) else None
    model = source_type(kind)
    if model is None:
        raise msgspec.ValidationError(f"Expected a source with a known type, got {kind!r}")
    return convert(keys, model)


def infer_source_keys(location: str) -> dict[str, Any] | None:
    """Return `type` and other keys implied by a file's suffix; None for an unknown suffix."""
    file = Location(location)
    for name, model in SOURCE_TYPES.items():
        if file.unpacked_suffix in model.suffixes:
            return {"type": name, **model.infer_keys(file)}
    return None


def is_folder(path: str) -> bool:
    """Return whether the path of a Hub source is a local folder, not a repository."""
    # By its first character alone: a folder `owner/name` in the working directory must not replace
    # the repository of that name. No name on the Hub starts with one of these.
    return path.startswith((".", "/", "~"))


def data_file_list(data_files: Any) -> list[str]:
    """Return the paths in any form of `data_files`."""
    match data_files:
        case str():
            return [data_files]
        case Mapping():
            return [path for paths in data_files.values() for path in data_file_list(paths)]
        case _:
            return list(data_files or ())


def _map_paths(value: Any, change: Callable[[str], Any]) -> Any:
    match value:
        case str():
            return change(value)
        case list():
            return [_map_paths(item, change) for item in value]
        case dict():
            return {key: _map_paths(item, change) for key, item in value.items()}
        case _:
            return value


def _absolute_mirror(path: str, folder: Path) -> str:
    # The slash at the end makes it a folder.
    return _absolute(path.removesuffix("/"), folder) + "/" * path.endswith("/")


def _absolute(path: str, folder: Path) -> str:
    location = Location(path)
    if not location.is_path:
        return path
    return str(location.with_file(lambda file: file.local_path(folder)))  # keys are plain data
