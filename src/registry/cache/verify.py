"""Read everything in the cache, and compare it with its digests."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from registry.base.folders import kept_inode
from registry.base.fs import file_sha256
from registry.cache.cache import inode_of
from registry.cache.contents import Kind, size_of
from registry.errors import CacheError

if TYPE_CHECKING:
    from registry.cache.cache import Cache

__all__ = ["Checked", "paths_of", "verify"]

_DERIVED = ("views", "exports")
"""What is made of samples, and has keys that no dataset names."""
_KINDS: tuple[Kind, ...] = ("samples", "views", "records", "exports", "blobs")


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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return dict(vars(self))


def paths_of(cache: Cache, keys: Collection[str] | None = None) -> list[tuple[Kind, Path]]:
    """Return all items of the cache, also damaged ones, or those with the keys.

    Views and exports, whose keys are their own, are always among them.
    """
    found: list[tuple[Kind, Path]] = []
    for kind in _KINDS:
        parent = cache.versioned / kind
        inner = sorted(parent.iterdir()) if parent.is_dir() else []
        found += [
            (kind, path)
            for path in inner
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
