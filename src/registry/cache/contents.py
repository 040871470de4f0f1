"""What the cache holds, with its size and the time of its last use, and whether it is undamaged."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from registry.base.cache_access import CACHE_FORMAT
from registry.base.fs import file_sha256
from registry.cache.cache import inode_of, listed
from registry.cache.folders import KINDS, META, EntryKind, Kind, kept_inode
from registry.errors import CacheError

if TYPE_CHECKING:
    from registry.cache.cache import Cache

__all__ = [
    "Checked",
    "Item",
    "contents",
    "newer_formats",
    "newest",
    "older_formats",
    "paths_of",
    "size_of",
    "verify",
]

_DERIVED = ("views", "exports")
"""What is made of samples, and has keys that no dataset names."""


class Item(Struct, frozen=True, kw_only=True):
    """An entry or a blob; with the samples come their views."""

    kind: Kind
    key: str
    """Name of its folder or file: a fingerprint, or the digest of a blob."""
    path: Path
    bytes: int
    """Size of its files."""
    last_used: float
    """Time of the last use, at most an hour old while it is used."""
    meta: dict[str, Any]
    """Content of `meta.json`; empty for a blob."""
    views: tuple[Item, ...] = ()
    """Views of the samples."""

    @property
    def total(self) -> int:
        """Size with the views."""
        return self.bytes + sum(view.bytes for view in self.views)

    @property
    def lock(self) -> Path:
        """The lock file that is held while it is made."""
        return self.path.parents[1] / "locks" / f"{self.kind}-{self.key}.lock"


def contents(cache: Cache) -> list[Item]:
    """Return samples with their views, records, exports and blobs; views of no samples come alone.

    Entries whose metadata is damaged are left out.
    """
    cache = replace(cache, passive=True)
    samples = {item.key: item for item in _entries(cache, "samples")}
    views: dict[str, list[Item]] = {}
    for view in _entries(cache, "views"):
        views.setdefault(view.meta["samples"].removeprefix("sha256:"), []).append(view)
    found = []
    for key, item in samples.items():
        own = tuple(views.pop(key, ()))
        used = max(one.last_used for one in (item, *own))
        found.append(replace(item, views=own, last_used=used))
    found += [view for alone in views.values() for view in alone]
    found += [*_entries(cache, "records"), *_entries(cache, "exports")]
    for path in listed(cache.versioned / "blobs"):
        if not path.name.startswith("."):
            size, used = size_of(path), _time_of(path)
            blob = Item(kind="blobs", key=path.name, path=path, bytes=size, last_used=used, meta={})
            found.append(blob)
    return found


def _entries(cache: Cache, kind: EntryKind) -> Iterator[Item]:
    for entry in cache.entries(kind):
        yield Item(
            kind=kind,
            key=entry.folder.name,
            path=entry.folder,
            bytes=size_of(entry.folder),
            last_used=_time_of(entry.folder / META),
            meta=entry.meta,
        )


def _time_of(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # removed just now
        return time.time()


def older_formats(cache: Cache) -> list[Path]:
    """Return the folders that releases with an older format of the cache use."""
    return [path for path, number in _formats(cache) if number < CACHE_FORMAT]


def newer_formats(cache: Cache) -> list[Path]:
    """Return the folders that releases with a newer format of the cache use."""
    return [path for path, number in _formats(cache) if number > CACHE_FORMAT]


def _formats(cache: Cache) -> Iterator[tuple[Path, int]]:
    for path in listed(cache.root):
        if path.name[0] == "v" and path.name[1:].isdecimal() and path.is_dir():
            yield path, int(path.name[1:])


def size_of(path: Path) -> int:
    """Return the size of a file, or of all files in a folder; what is gone has none."""
    return sum(state.st_size for state in _states(path) if not _is_folder(state))


def newest(path: Path) -> float:
    """Return the latest time of change of a file, or of a folder and all that it contains."""
    return max((state.st_mtime for state in _states(path)), default=0.0)


def _states(path: Path) -> Iterator[os.stat_result]:
    """Yield the states of a path and of everything below it; links are not followed."""
    try:
        state = path.lstat()
        yield state
        if not _is_folder(state):
            return
        with os.scandir(path) as listed:
            inner = list(listed)
    except OSError:
        return
    for one in inner:
        yield from _states(Path(one.path))


def _is_folder(state: os.stat_result) -> bool:
    return stat.S_ISDIR(state.st_mode)


@dataclass(frozen=True, kw_only=True)
class Checked:
    """The result for one item."""

    kind: Kind
    key: str
    bytes: int
    damage: str = ""
    """What is wrong; empty if nothing is."""
    quarantined: bool = False
    """Whether it was moved away, so that nothing uses it."""


def paths_of(cache: Cache, keys: Collection[str] | None = None) -> list[tuple[Kind, Path]]:
    """Return all items of the cache, also damaged ones, or those with the keys.

    Views and exports, whose keys are their own, are always among them.
    """
    found: list[tuple[Kind, Path]] = []
    for kind in KINDS:
        found += [
            (kind, path)
            for path in listed(cache.versioned / kind)
            if not path.name.startswith(".")
            and (keys is None or kind in _DERIVED or path.name in keys)
        ]
    return found


def verify(cache: Cache, paths: Collection[tuple[Kind, Path]]) -> Iterator[Checked]:
    """Compare each item with its digests; what is damaged is moved to the quarantine."""
    for kind, path in paths:
        checked = _check(cache, kind, path)
        if checked is not None:
            yield checked


def _check(cache: Cache, kind: Kind, path: Path) -> Checked | None:
    """Return the result for an item, or None if another process has removed it."""
    passive = replace(cache, passive=True)
    while True:
        with kept_inode(path) as seen:
            if seen is None:
                return None
            size = size_of(path)
            damage = _damage(passive, kind, path)
            if damage and inode_of(path) != seen:
                continue  # it was removed or replaced while it was read
            moved = damage != "" and cache.quarantine_file(path)
            return Checked(kind=kind, key=path.name, bytes=size, damage=damage, quarantined=moved)


def _damage(cache: Cache, kind: Kind, path: Path) -> str:
    """Return what is wrong with an item, or an empty str."""
    try:
        if kind == "blobs":
            return "" if file_sha256(path) == path.name else "its bytes don't have their digest"
        entry = cache.find(kind, f"sha256:{path.name}")
        if entry is None:
            return "its metadata is invalid, or a file is missing or cut"
        return entry.damage()
    except (OSError, CacheError) as error:
        return f"it can't be read: {error}"
