"""Remove files and folders of the cache, and tell what was really removed."""

from __future__ import annotations

import shutil
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from registry.base.cache_access import make_folder
from registry.base.fs import claim
from registry.cache.contents import Item, newest, size_of

__all__ = ["DAY", "Removal", "Removed"]

DAY = 24 * 60 * 60
_UNKNOWN = (
    "nobody can tell whether a process is writing it: the file system has no locks, or denies"
    " access (end what uses the cache and remove it, or try again in a day)"
)


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

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON data."""
        return dict(vars(self))


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
