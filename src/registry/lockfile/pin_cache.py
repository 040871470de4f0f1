"""The pins of a whole catalog: of its own lockfile, and of the packages that it includes.

A cache has the pins of each lockfile, so that a large one is parsed only once.
"""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw, Struct

from registry.base.conversion import decode_json
from registry.base.fs import best_effort_path, read_best_effort, write_best_effort
from registry.base.local_files import display_path
from registry.catalog.cached_files import package_version_key
from registry.lockfile.models import CommitPin, Lock, Pin, parse_lock
from registry.lockfile.pinned import PinnedSources, pin_sources
from registry.lockfile.text import read_bytes
from registry.settings import INDEX_NAME, lock_file_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.catalog.catalog import Catalog
    from registry.manifest.models import DatasetSpec
    from registry.settings import Settings

__all__ = ["CachedPins", "CatalogPins"]


@dataclass(frozen=True)
class CatalogPins:
    """The pins of a catalog's datasets: those of its lockfile, else of the package's that has them.

    Each method raises a LockError for a lockfile that is invalid.
    """

    catalog: Catalog
    settings: Settings
    files: dict[Path, CachedPins]
    """The lockfiles that were read: the catalog's own, and those of packages as they are needed."""

    @classmethod
    def read(cls, catalog: Catalog, settings: Settings) -> CatalogPins:
        """Read the catalog's own lockfile."""
        pins = cls(catalog, settings, {})
        pins._pins(settings.lock_file)
        return pins

    def lock_file(self, name: str) -> Path:
        """Return the lockfile for a dataset."""
        own, home = self.settings.lock_file, self.catalog.home_of(name)
        if home == own.parent or name in self._pins(own):
            return own
        return lock_file_of(home / INDEX_NAME)

    def get(self, name: str) -> Pin | None:
        """Return the pin of a dataset; None if it has none."""
        return self._of(name).get(name)

    def commit(self, name: str) -> CommitPin | None:
        """Return the commits of a dataset of which no more is known, or None."""
        return self._of(name).commit(name)

    def has(self, name: str) -> bool:
        """Return whether a dataset has a pin, or its commit is known."""
        return name in self._of(name)

    def rows(self, names: Iterable[str]) -> Lock:
        """Return the pins of datasets, and the commits of those without one."""
        pins, commits = {}, {}
        for name in names:
            if (pin := self.get(name)) is not None:
                pins[name] = pin
            elif (commit := self.commit(name)) is not None:
                commits[name] = commit
        return Lock(pins, commits)

    def sources(self, spec: DatasetSpec) -> PinnedSources | None:
        """Return `pin_sources` of a dataset, as in its manifest."""
        return pin_sources(
            spec,
            self.get(spec.name),
            commit=self.commit(spec.name),
            locked=self.settings.locked,
            frozen=self.settings.frozen,
        )

    def _of(self, name: str) -> CachedPins:
        return self._pins(self.lock_file(name))

    def _pins(self, path: Path) -> CachedPins:
        if path not in self.files:
            shown = display_path(path)
            self.files[path] = CachedPins.read(path, self.settings.cache_dir, shown_as=shown)
        return self.files[path]


class CachedPins(Struct, frozen=True):
    """The pins of a lockfile; each is decoded when it is asked for."""

    pins: dict[str, Raw] = {}
    commits: dict[str, Raw] = {}
    """Those of which only the commit is known."""
    key: tuple[str, ...] = ()
    """The version of the code, and the digest of the lockfile."""

    @classmethod
    def read(cls, path: Path, cache_dir: Path, *, shown_as: str | None = None) -> CachedPins:
        """Read a lockfile; if it does not exist, it has no pins.

        Raises:
            LockError: the file is invalid.
        """
        data = read_bytes(path, shown_as=shown_as)
        if data is None:
            return cls()
        # Hashing 10,000 pins takes 3 ms. Unlike a key of path and state, the digest also finds a
        # lockfile that was just written, or another machine's copy of it in a remote cache.
        key = (package_version_key(), hashlib.sha256(data).hexdigest())
        place = best_effort_path(path, cache_dir, "lock")
        cached = read_best_effort(place) or b""
        # Missing or outdated; errors of msgspec are no ValueErrors in all of its versions.
        with contextlib.suppress(ValueError, msgspec.DecodeError):
            found = decode_json(memoryview(cached)[: cached.index(b"\n")], cls)
            if found.key == key:
                return found
        lock = parse_lock(data, shown_as or str(path))
        pins, commits = (
            {name: Raw(msgspec.json.encode(one)) for name, one in rows.items()}
            for rows in (lock.pins, lock.commits)
        )
        made = cls(pins, commits, key)
        write_best_effort(place, msgspec.json.encode(made) + b"\n")
        return made

    def __contains__(self, name: object) -> bool:
        return name in self.pins or name in self.commits

    def get(self, name: str) -> Pin | None:
        """Return the pin of a dataset, or None."""
        pin = self.pins.get(name)
        return None if pin is None else decode_json(pin, Pin)

    def commit(self, name: str) -> CommitPin | None:
        """Return the commits of a dataset of which no more is known, or None."""
        row = self.commits.get(name)
        return None if row is None else decode_json(row, CommitPin)
