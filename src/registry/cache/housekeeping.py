"""Keep the cache tidy: remove what a crash left behind, what nobody uses, or everything."""

from __future__ import annotations

import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from registry.base.cache_access import make_folder
from registry.base.fs import claim
from registry.cache.cache import listed
from registry.cache.contents import Item, contents, newer_formats, newest, older_formats, size_of
from registry.cache.folders import ENTRY_KINDS, KINDS
from registry.errors import count_text

if TYPE_CHECKING:
    from registry.cache.cache import Cache

__all__ = [
    "DAY",
    "Removal",
    "Removed",
    "clear",
    "clear_items",
    "keep_to_size",
    "prune",
    "prune_old_leftovers",
]

DAY = 24 * 60 * 60
_UNKNOWN = (
    "nobody can tell whether a process is writing it: the file system has no locks, or denies"
    " access (end what uses the cache and remove it, or try again in a day)"
)
_LEFT = "left by a process that ended early"
_PARTS = (*KINDS, "sources", "index")
"""Folders of the cache whose names with a dot, and only these, are temporary."""
_SPARED = 2 * 60 * 60


@dataclass(frozen=True, kw_only=True)
class Removed:
    """Something that was removed, or would be."""

    kind: str
    """A kind of item, or the folder of the cache that a file was in."""
    name: str
    """Name of its file or folder."""
    bytes: int
    reason: str
    dataset: str = ""
    """The dataset that its samples were built for."""


@dataclass(kw_only=True)
class Removal:
    """Removes, and collects the results."""

    folder: Path
    """Folder of the cache with the version part."""
    dry_run: bool = False
    """Only collect what would be removed."""
    removed: list[Removed] = field(default_factory=list)
    errors: dict[Path, str] = field(default_factory=dict)
    """What can't be removed, and why."""
    in_use: list[Path] = field(default_factory=list)
    """What is kept because a running process holds it."""
    newer: list[Path] = field(default_factory=list)
    """Folders that are kept because only newer releases know what they hold."""

    @property
    def bytes(self) -> int:
        """Bytes that were removed."""
        return sum(one.bytes for one in self.removed)

    def remove_item(self, item: Item, reason: str) -> None:
        """Remove an item with its views, unless a process is making it."""
        with claim(item.lock) as is_free:
            if is_free is False:
                self.in_use.append(item.path)
                return
            name = str(item.meta.get("name", ""))
            for one in (item, *item.views):
                self._remove(one.path, one.kind, reason, dataset=name)

    def remove_unheld(self, path: Path, reason: str, *, older: float = 0.0) -> None:
        """Remove a file or folder that no process holds and that is `older`, in seconds.

        Where nobody can tell whether it is held, it must be a day old.
        """
        with claim(path) as is_free:
            if is_free is False:
                self.in_use.append(path)
                return
            if is_free is None:
                older = max(older, DAY)
            if not older or time.time() - newest(path) > older:
                self._remove(path, path.parent.name, reason)

    def clear(self, path: Path, *, is_temporary: bool) -> None:
        """Remove a file or folder, unless a process holds it.

        Where nobody can tell, what is temporary must be a day old, as a process may be writing it.
        """
        with claim(path) as is_free:
            if is_free is False:
                self.in_use.append(path)
            elif is_free is None and is_temporary and time.time() - newest(path) <= DAY:
                self.errors[path] = _UNKNOWN
            else:
                self._remove(path, path.parent.name, "cleared")

    def _remove(self, path: Path, kind: str, reason: str, *, dataset: str = "") -> None:
        size = size_of(path)
        if not self.dry_run:
            try:
                size -= self._delete(path)
            except FileNotFoundError:  # another process was faster
                return
            except OSError as error:
                self.errors[path] = error.strerror or str(error)
                return
        self.removed.append(
            Removed(kind=kind, name=path.name, bytes=size, reason=reason, dataset=dataset)
        )

    def _delete(self, path: Path) -> int:
        """Delete a file, or a folder with its content; return how many bytes are left of it."""
        if path.is_symlink() or not path.is_dir():
            path.unlink()
            return 0
        # Renamed first: an entry disappears in one step, and who has its files open reads on.
        away = self.folder / "tmp" / uuid.uuid4().hex
        make_folder(away.parent)
        path.rename(away)
        try:
            shutil.rmtree(away)
        except OSError as error:
            left = size_of(away)
            if left:
                self.errors[away] = error.strerror or str(error)
            return left
        return 0


def prune(
    cache: Cache,
    *,
    older: float | None = None,
    keep_size: int | None = None,
    is_referenced: Callable[[Item], bool] | None = None,
    dry_run: bool = False,
) -> Removal:
    """Remove what killed processes left, and the items that a condition selects.

    Args:
        cache: The cache.
        older: Remove items that were not used for this many seconds.
        keep_size: Remove the least recently used items until the others have this many bytes.
        is_referenced: Remove items for which this is false.
        dry_run: Remove nothing, only return what would be removed.
    """
    removal = Removal(folder=cache.versioned, dry_run=dry_run)
    _remove_leftovers(cache, removal, older=0)
    chosen = _choose(contents(cache), older=older, keep_size=keep_size, is_referenced=is_referenced)
    for item, reason in chosen:
        removal.remove_item(item, reason)
    return removal


def keep_to_size(cache: Cache, size: int) -> tuple[Removal, int]:
    """Remove what was used least recently from a cache that is larger; return how large it is then.

    What was used within two hours is kept: the time of a use is noted once an hour, and who uses
    it may be running.
    """
    removal, items = Removal(folder=cache.versioned), contents(cache)
    for item, reason in _choose(items, keep_size=size, spared=_SPARED):
        removal.remove_item(item, reason)
    return removal, sum(item.total for item in items) - removal.bytes


def _choose(
    items: Iterable[Item],
    *,
    older: float | None = None,
    keep_size: int | None = None,
    spared: float = 0.0,
    is_referenced: Callable[[Item], bool] | None = None,
) -> Iterator[tuple[Item, str]]:
    """Yield the items to remove with the reason, those that were used last at the end.

    What was used in the seconds that are `spared` is kept, whatever the size.
    """
    by_use = sorted(items, key=lambda item: (item.last_used, item.kind, item.key))
    now, left = time.time(), sum(item.total for item in by_use)
    for item in by_use:
        if is_referenced is not None and not is_referenced(item):
            reason = "no dataset of the catalog uses it"
        elif older is not None and now - item.last_used > older:
            reason = f"not used for {_duration_text(now - item.last_used)}"
        elif keep_size is not None and left > keep_size and now - item.last_used >= spared:
            reason = "the least recently used"
        else:
            continue
        left -= item.total
        yield item, reason


def _duration_text(seconds: float) -> str:
    """Return a duration in the largest unit that it has one of."""
    for unit, length in (("day", DAY), ("hour", 3600), ("minute", 60)):
        if seconds >= length:
            return count_text(int(seconds // length), unit)
    return "less than a minute"


def prune_old_leftovers(cache: Cache) -> None:
    """Remove what killed processes left more than a day ago."""
    _remove_leftovers(cache, Removal(folder=cache.versioned), older=DAY)


def _remove_leftovers(cache: Cache, removal: Removal, *, older: float) -> None:
    for path in _leftovers(cache.versioned):
        removal.remove_unheld(path, _LEFT, older=older)
    for folder, reason in (("quarantine", "damaged"), ("locks", "held by nobody")):
        for path in listed(cache.versioned / folder):
            removal.remove_unheld(path, reason, older=older)


def _leftovers(folder: Path) -> Iterator[Path]:
    """Yield what only a killed process leaves, or one that is running writes."""
    yield from listed(folder / "tmp")
    for part in _PARTS:
        for path in listed(folder / part):
            # An entry is a folder, whatever put a file there.
            if path.name.startswith(".") or (part in ENTRY_KINDS and not path.is_dir()):
                yield path


def clear(cache: Cache) -> Removal:
    """Remove everything, also of older formats, but what running processes hold.

    What is of newer formats stays: only their releases can tell whether it is in use.
    """
    removal = Removal(folder=cache.versioned, newer=newer_formats(cache))
    for folder in (cache.versioned, *older_formats(cache)):
        # The folders stay: another process may be about to write into them.
        for part in listed(folder):
            for path in listed(part):
                is_temporary = part.name == "tmp" or path.name.startswith(".")
                removal.clear(path, is_temporary=is_temporary)
    return removal


def clear_items(cache: Cache, items: Iterable[Item]) -> Removal:
    """Remove items."""
    removal = Removal(folder=cache.versioned)
    for item in items:
        removal.remove_item(item, "cleared")
    return removal
