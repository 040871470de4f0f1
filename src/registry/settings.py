"""What the environment says, read once: cache folder, root, offline, how the lock is held to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["INDEX_NAME", "Settings", "builtin_root", "find_root", "lock_file_of"]

INDEX_NAME = "datasets.yaml"
_TRUE = {"1", "true", "yes", "on"}


class Settings(Struct, frozen=True, kw_only=True):
    """Where things are and whether requests may be made."""

    index: Path
    """The index file, `datasets.yaml`."""
    cache_dir: Path
    """The cache's folder, without the version part."""
    offline: bool = False
    """No requests at all."""
    locked: bool = False
    """What the lockfile does not pin, or pins otherwise than the manifest says, is an error."""
    frozen: bool = False
    """The lockfile's pins are taken whatever the manifest says, and nothing else is looked up."""

    @property
    def lock_file(self) -> Path:
        """The lockfile of the catalog."""
        return lock_file_of(self.index)

    @classmethod
    def from_environment(
        cls,
        *,
        root: str | Path | None = None,
        offline: bool | None = None,
        locked: bool | None = None,
        frozen: bool | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> Settings:
        """Combine arguments and environment; an argument that is not None wins.

        Reads REGISTRY_ROOT, REGISTRY_CACHE_DIR, REGISTRY_OFFLINE, HF_HUB_OFFLINE,
        REGISTRY_LOCKED and REGISTRY_FROZEN.
        """
        given = root or environ.get("REGISTRY_ROOT")
        return cls(
            index=_index_of(Path(given)) if given else find_root(Path.cwd()),
            cache_dir=_cache_dir(environ),
            offline=_flag(offline, environ, "REGISTRY_OFFLINE", "HF_HUB_OFFLINE"),
            locked=_flag(locked, environ, "REGISTRY_LOCKED"),
            frozen=_flag(frozen, environ, "REGISTRY_FROZEN"),
        )


def _flag(given: bool | None, environ: Mapping[str, str], *names: str) -> bool:
    if given is not None:
        return given
    return any(environ.get(name, "").lower() in _TRUE for name in names)


def _index_of(root: Path) -> Path:
    path = root.expanduser().absolute()
    return path / INDEX_NAME if path.is_dir() else path


def _cache_dir(environ: Mapping[str, str]) -> Path:
    if given := environ.get("REGISTRY_CACHE_DIR"):
        return Path(given).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_cache_dir("registry", appauthor=False))


def find_root(start: Path) -> Path:
    """Return the nearest `datasets.yaml` from `start` upwards, else the built-in one."""
    for folder in (start, *start.parents):
        if (folder / INDEX_NAME).is_file():
            return folder / INDEX_NAME
    return builtin_root()


def lock_file_of(index: Path) -> Path:
    """Return the lockfile of an index: it lies beside it, under its name."""
    return index.with_suffix(".lock")


def builtin_root() -> Path:
    """Return the index that this package ships; in a checkout, the repository's own."""
    package = Path(__file__).parent
    shipped = package / INDEX_NAME
    return shipped if shipped.is_file() else package.parents[1] / INDEX_NAME
