"""The lock of a whole catalog: its own lockfile, and those of the packages that it includes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.base.names import display_path
from registry.lockfile.models import Lock, read_lock
from registry.settings import lock_file_of

if TYPE_CHECKING:
    from registry.catalog.catalog import Catalog

__all__ = ["catalog_lock", "with_packages"]


def catalog_lock(catalog: Catalog) -> Lock:
    """Return what is locked of a catalog; nothing, if no index has a lockfile.

    Raises:
        LockError: a lockfile is invalid.
    """
    path = lock_file_of(catalog.index)
    return with_packages(read_lock(path, shown_as=display_path(path)) or Lock(), catalog)


def with_packages(own: Lock, catalog: Catalog) -> Lock:
    """Return a catalog's own lock with the rows of its packages for datasets that it lacks.

    Raises:
        LockError: the lockfile of a package is invalid.
    """
    pins, commits = dict(own.pins), dict(own.commits)
    for index in catalog.indexes[1:]:
        path = lock_file_of(index)
        lock = read_lock(path, shown_as=display_path(path)) or Lock()
        for name in lock.names:
            if name not in catalog.entries or own.row_of(name) is not None:
                continue
            if catalog.home_of(name) != index.parent:
                continue
            if name in lock.pins:
                pins[name] = lock.pins[name]
            else:
                commits[name] = lock.commits[name]
    return Lock(pins, commits)
