"""What the root index permits, which no manifest and no included index can."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from registry.base.process_state import cached_property
from registry.boundary.boundary import Boundary, Limits

if TYPE_CHECKING:
    from registry.yamldoc.reader import Document

__all__ = ["IncludeReach", "boundary_of", "permissions_of"]

_KEYS = ("trust", "hosts", "secrets", "paths", "limits")


def permissions_of(index: Document) -> dict[str, Any]:
    """Return the keys of an index that permit something, as JSON data."""
    return {key: index.value[key] for key in _KEYS if key in index.value}


def boundary_of(
    permissions: Mapping[str, Any],
    indexes: Iterable[Path],
    allow_paths: Iterable[str],
    *,
    real_path: Callable[[str], str] = os.path.realpath,
) -> Boundary:
    """Return what the manifests of a catalog may reach.

    Args:
        permissions: Those of the root index, or of the index that a review judges by.
        indexes: The index files of the catalog, the root first; each manifest may read files below
            the folder of any of them.
        allow_paths: Absolute paths that the user allows.
        real_path: Follows the links of a path.
    """
    folders = [os.path.dirname(index) for index in indexes]
    own = (
        os.path.join(folders[0], os.path.expanduser(path))
        for path in permissions.get("paths", ())
        if "\0" not in path  # no file has such a path
    )
    # The index that asks is the root in most catalogs.
    allowed = dict.fromkeys([*folders, *own, *allow_paths])
    return Boundary(
        folders=tuple(map(real_path, allowed)),
        hosts=frozenset(permissions.get("hosts", ())),
        secrets={name: tuple(hosts) for name, hosts in permissions.get("secrets", {}).items()},
        trust=frozenset(permissions.get("trust", ())),
        limits=Limits.of(permissions["limits"]) if "limits" in permissions else Limits(),
    )


class IncludeReach(Struct, frozen=True, dict=True):
    """Where included manifests may be, beside the folders of the root index and of their own.

    It belongs to one opening of a catalog, which follows the links of each folder once.
    """

    allowed: tuple[str, ...] = ()
    """Absolute paths that the user allows."""
    paths: tuple[str, ...] | None = None
    """`paths` of the index that a review judges by; None means those of the root index."""

    @cached_property
    def real_path(self) -> Callable[[str], str]:
        """Follow the links of a path, as they are when it is first asked about."""
        return functools.cache(os.path.realpath)

    def to_json(self) -> list[list[str] | None]:
        """Return it as JSON data."""
        return [list(self.allowed), None if self.paths is None else list(self.paths)]

    def boundary(self, root: Path, index: Path, permissions: Mapping[str, Any]) -> Boundary:
        """Return what the `include` of an index may reach; the permissions are the root index's."""
        paths = permissions.get("paths", ()) if self.paths is None else self.paths
        return boundary_of({"paths": paths}, [root, index], self.allowed, real_path=self.real_path)
