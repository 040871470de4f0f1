"""`registry://` for every tool that speaks fsspec: datasets as read-only files.

    registry://mmlu-small.jsonl                   a dataset, in one of the formats
    registry://mmlu.parquet?shuffle=true&seed=42  with another view
    registry://limit=100/mmlu.jsonl               the same, where the suffix must come last
    registry://mmlu-subjects/anatomy.parquet      a member of a group
    registry://qa.csv?root=/work/catalog          of another catalog

The bytes are those of `registry export`. They are written into the cache once.
"""

from __future__ import annotations

import atexit
import errno
import fnmatch
import io
import os
import time
from datetime import UTC, datetime
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, TypeVar

from fsspec.spec import AbstractFileSystem

from registry import Catalog, DatasetNotFoundError, GroupError, RegistryError
from registry.api import (
    Cache,
    Deadline,
    ExportError,
    HashedFile,
    OpenCatalog,
    Settings,
    again_if_lost,
    deadline_seconds,
    digest_of,
)
from registry.plugins.export.exported import Exported, open_exported
from registry.plugins.export.formats import FORMATS, Format
from registry.plugins.export.location import (
    Location,
    has_query,
    kind_of,
    member_path,
    parse_path,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.api import Cache, CacheEntry

__all__ = ["RegistryFileSystem", "cached_export", "export_key"]


_Result = TypeVar("_Result")
_WRITERS = 1
"""Increment it when a writer gives other bytes for the same samples."""

# Threads of Arrow may still have to give back what they read from a file of Python. If they wait
# for Python while it ends, they end the process with SIGABRT, after all has been done.
atexit.register(time.sleep, 0.005)


class _File(io.BufferedReader):
    """Closed with its last reference: many tools never close what they open."""

    def __del__(self) -> None:
        self.close()


class RegistryFileSystem(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
    """The datasets of a catalog as files."""

    protocol = "registry"

    def __init__(
        self,
        root: str | None = None,
        offline: bool | None = None,
        locked: bool | None = None,
        frozen: bool | None = None,
        **options: Any,
    ) -> None:
        """Create a file system; the arguments are those of `get_dataset`.

        `root=` in a URL takes precedence over the argument.
        """
        super().__init__(**options)
        self._root = root
        self._offline, self._locked, self._frozen = offline, locked, frozen

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        """Return the datasets of the catalog in each format; a size is None until it is known."""
        path = self._strip_protocol(path)
        location = _parse(path)
        if location.kind is not None:
            found = [self.info(path)]
        else:
            files, folders = _listed(self._catalog(location), location.name, path)
            suffixes = [row.suffix for row in FORMATS.values() if row.is_served]
            names = [name + suffix for name in files for suffix in suffixes]
            found = [
                {"name": location.prefix + name, "size": None, "type": "file"} for name in names
            ] + [
                {"name": location.prefix + name, "size": 0, "type": "directory"} for name in folders
            ]
        return found if detail else [one["name"] for one in found]

    def info(self, path: str, **options: Any) -> dict[str, Any]:
        """Return size, ETag and provenance of a file, which is written if necessary."""
        path = self._strip_protocol(path)
        location = _parse(path)
        if location.kind is None:
            _listed(self._catalog(location), location.name, path)
            return {"name": path, "size": 0, "type": "directory"}
        state, key, provenance = self._export(path, os.stat)
        return {
            "name": path,
            "size": state.st_size,
            "type": "file",
            "ETag": key,
            "provenance": provenance,
        }

    def exists(self, path: str, **options: Any) -> bool:
        """Return whether the catalog has a dataset, or a group; nothing is built."""
        try:
            location = parse_path(self._strip_protocol(path))
            catalog = self._catalog(location)
            if location.kind is None:
                return not location.name or catalog.is_group(location.name)
            return bool(catalog.named(location.name, location.split))
        except (ExportError, DatasetNotFoundError, GroupError):
            return False

    def ukey(self, path: str) -> str:
        """Return a digest that changes when the bytes do."""
        etag: str = self.info(path)["ETag"]
        return etag

    def checksum(self, path: str) -> str:
        """Return the same as `ukey`."""
        return self.ukey(path)

    def modified(self, path: str) -> datetime:
        """Return when the bytes were written into this cache; DuckDB asks for it."""
        state, _, _ = self._export(self._strip_protocol(path), os.stat)
        return datetime.fromtimestamp(state.st_mtime, UTC)

    def glob(self, path: str, maxdepth: int | None = None, **options: Any) -> Any:
        """Return the files that match a pattern, each with the options that follow it.

        Raises:
            RegistryError: options follow a name that no dataset has, or are invalid. Tools look for
                the matches of every URL with a `?`, and do not say why there is none.
        """
        stripped = self._strip_protocol(path)
        if not has_query(stripped):
            return super().glob(path, maxdepth=maxdepth, **options)
        location, query = parse_path(stripped), stripped.partition("?")[2]
        if location.kind is None:
            found = [stripped]
        else:
            catalog = self._catalog(location)
            group = location.name.rpartition("/")[0]
            known = _listed(catalog, group, path)[0] if group else catalog
            names = fnmatch.filter(known, location.name)
            if not names and not has_magic(location.name):
                names = [location.name]
                catalog.resolve(location.name)  # raises the error with similar names
            end = f"{location.kind.suffix}?{query}"
            found = [f"{location.prefix}{member_path(name)}{end}" for name in names]
        return {one: self.info(one) for one in found} if options.get("detail") else found

    def _open(self, path: str, mode: str = "rb", **options: Any) -> BinaryIO:
        if mode != "rb":
            _refuse_change(path)
        return _File(self._export(path, io.FileIO)[0])

    def mkdir(self, path: str, create_parents: bool = True, **options: Any) -> None:
        """Raise an error: it is read-only."""
        _refuse_change(path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Raise an error: it is read-only."""
        _refuse_change(path)

    def _rm(self, path: str) -> None:
        _refuse_change(path)

    def cp_file(self, path1: str, path2: str, **options: Any) -> None:
        """Raise an error: it is read-only."""
        _refuse_change(path2)

    def _settings(self, root: str | None) -> Settings:
        return Settings.from_environment(
            root=root or self._root,
            offline=self._offline,
            locked=self._locked,
            frozen=self._frozen,
        )

    def _catalog(self, location: Location) -> Catalog:
        """Return the catalog of a URL.

        A URL may come from anywhere, so that a catalog it names permits itself nothing: which code
        it runs and what it reaches the user's own index decides.
        """
        own = self._settings(None).index
        index = self._settings(location.root).index
        return Catalog.open(index, rules_from=None if index == own else own)

    def _export(
        self, path: str, use: Callable[[Path], _Result]
    ) -> tuple[_Result, str, dict[str, Any]]:
        """Return what `use` gives for the file of an export, its key and its provenance.

        Raises:
            FileNotFoundError: there is no such dataset, or the path is invalid.
            RegistryError: the same, for a path with options.
            IsADirectoryError: it is a folder.
        """
        location = _parse(path)
        catalog, settings = self._catalog(location), self._settings(location.root)
        if location.kind is None:
            _listed(catalog, location.name, path)
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        kind, cache = location.kind, Cache(settings.cache_dir)

        def export_and_use() -> tuple[_Result, str, dict[str, Any]]:
            name, view = catalog.named(location.name, location.split), location.view
            if catalog.is_member(location.name):
                split = {} if location.split is None else {"split": location.split}
                name, view = location.name, {**view, **split}
            asked = OpenCatalog(catalog, cache, settings).call_of(name, view)
            exported = open_exported(asked, absolute_files=location.absolute_files)
            key, file = cached_export(exported, kind, cache)
            return use(file), key, exported.provenance.as_data()

        try:
            return again_if_lost(export_and_use, cache.root)
        except (DatasetNotFoundError, GroupError) as error:
            _raise_missing(error, path)


def _listed(catalog: Catalog, group: str, path: str) -> tuple[list[str], list[str]]:
    """Return the names of datasets in a folder, and of the folders in it: groups are folders.

    Raises:
        FileNotFoundError: there is no such group; a RegistryError for a path with options.
    """
    if not group:
        return list(catalog), list(catalog.groups)
    first = group.partition("/")[0]
    try:
        if first not in catalog.groups and group not in catalog:
            catalog.group(first)  # raises the error with similar names
        if not catalog.is_group(group):
            kind_of(group, path)  # raises that a suffix is missing
        # Members of values that are not declared are known only once the samples are read.
        names = [f"{group}/{one.name}" for one in catalog.group(group).members if not one.by]
    except RegistryError as error:
        _raise_missing(error, path)
    inner = {name: name[len(group) + 1 :].partition("/") for name in names}
    files = [member_path(name) for name, (_, slash, _) in inner.items() if not slash]
    folders = dict.fromkeys(f"{group}/{one}" for one, slash, _ in inner.values() if slash)
    return files, list(map(member_path, folders))


def _parse(path: str) -> Location:
    try:
        return parse_path(path)
    except ExportError as error:
        _raise_missing(error, path)


def _raise_missing(error: RegistryError, path: str) -> NoReturn:
    """Raise the error for a path that names nothing.

    Of a FileNotFoundError, pyarrow and Dask report only the path, and so does fsspec for any URL
    with a `?`. A path with options is meant for us, so its error stays as it is, with its hint.
    """
    if "=" in path:
        raise error
    raise FileNotFoundError(errno.ENOENT, str(error), path) from error


def _refuse_change(path: str) -> NoReturn:
    raise PermissionError(errno.EROFS, "registry:// is read-only", path)


def export_key(exported: Exported, kind: Format) -> str:
    """Return the digest of everything that determines the bytes of an export."""
    return digest_of(
        {
            "format": kind.name,
            "writers": _WRITERS,
            "package": kind.package_version,
            "provenance": exported.provenance.as_data(),
            # The bytes of absolute names depend on the folder.
            "files": exported.files,
        }
    )


def cached_export(exported: Exported, kind: Format, cache: Cache) -> tuple[str, Path]:
    """Return the key of an export, and its intact file in the cache; write it if necessary.

    Raises:
        CacheError: it can't be written.
    """
    key = export_key(exported, kind)
    entry = _find(cache, key)
    if entry is None:
        deadline = Deadline(deadline_seconds())
        name, report = exported.spec.name, exported.report
        with cache.working("exports", key, dataset=name, report=report, deadline=deadline):
            # Another process may have written it while this one waited for the lock.
            entry = _find(cache, key) or _write(exported, kind, cache, key)
    return key, entry.folder / f"data{kind.suffix}"


def _find(cache: Cache, key: str) -> CacheEntry | None:
    """Return an intact entry; a damaged one is moved to the quarantine."""
    entry = cache.find("exports", key)
    if entry is None:
        return None
    try:
        state = _state_of(entry)
    except FileNotFoundError:  # pruned just now
        return None
    if state not in _verified and not cache.verify("exports", entry):
        return None
    _verified.add(state)
    return entry


_State = tuple[str, int, int, int]
_verified: set[_State] = set()
"""Files that this process has compared with their digests: readers open one several times."""


def _state_of(entry: CacheEntry) -> _State:
    (name,) = entry.meta["files"]
    path = entry.folder / name
    found = os.stat(path)
    return str(path), found.st_ino, found.st_size, found.st_mtime_ns


def _write(exported: Exported, kind: Format, cache: Cache, key: str) -> CacheEntry:
    with cache.temporary() as folder:
        path = folder / f"data{kind.suffix}"
        with HashedFile(path) as file:
            kind.write(exported, file)
        meta = {
            "name": exported.spec.name,
            "samples": exported.entry.meta["fingerprint"],
            "format_name": kind.name,
            "provenance": exported.provenance.as_data(),
        }
        digests = {path.name: file.sha256}
        return cache.publish(folder, "exports", key, meta, digests=digests)
