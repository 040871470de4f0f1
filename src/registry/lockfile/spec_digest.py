"""What a lockfile has of a manifest: portable locations, and the digest of the resolved spec."""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import Any

from registry.base.digest import digest_of
from registry.base.locations import is_local, local_path, public_location
from registry.manifest.models import DatasetSpec
from registry.manifest.serialize import data_of, is_not_default
from registry.manifest.source import Source
from registry.settings import builtin_root

__all__ = ["location_in", "portable", "requested_location", "spec_digest"]

_PACKAGE = "package:registry/"
_QUERY = "?…"
_DOCUMENTATION = {"name", "folder", "description", "homepage", "license", "tags", "expect"}


def portable(location: str, folder: Path) -> str:
    """Return a location that all machines share: relative to `folder`, or a URL without secrets.

    A path of the built-in catalog, in another catalog that extends it, starts with
    `package:registry/`. A path that has only the root of the file system in common with `folder`
    stays absolute.
    """
    if not is_local(location):
        return public_location(location)
    path = PurePath(local_path(location))
    shipped = builtin_root().parent
    # In a checkout the built-in catalog may be `folder` itself; its own paths are then relative.
    if not path.is_relative_to(folder) and path.is_relative_to(shipped):
        return _PACKAGE + path.relative_to(shipped).as_posix()
    if Path(os.path.commonpath([path, folder])) == Path(path.anchor):
        return path.as_posix()
    return PurePath(os.path.relpath(path, folder)).as_posix()


def location_in(folder: Path, name: str) -> str:
    """Return the location of a portable name on this machine."""
    if name.startswith(_PACKAGE):
        return str(builtin_root().parent / name.removeprefix(_PACKAGE))
    return os.path.normpath(folder / name) if is_local(name) else name


def requested_location(path: str, folder: Path) -> str:
    """Return how a lockfile names a path, glob or URL of a manifest.

    A query may be a secret, or select the data, so a URL with a query becomes a digest.
    """
    name = portable(path, folder)
    if is_local(path) or not name.endswith(_QUERY):
        return name
    return digest_of([name, path.partition("?")[2]])


def spec_digest(spec: DatasetSpec) -> str:
    """Return the digest of everything in a spec that samples depend on, equal on all machines.

    Documentation and `expect` do not count. Neither do keys at their default: a key that a later
    version adds must not make every pin stale.
    """
    data = data_of(spec, without=_DOCUMENTATION, keep=is_not_default)
    folder = spec.folder
    data["source"] = _source(spec.source, folder)
    data["concat"] = [_source(source, folder) for source in spec.concat]
    if spec.join is not None:
        data["join"]["source"] = _source(spec.join.source, folder)
    return digest_of(data)


def _source(source: Source, folder: Path) -> dict[str, Any]:
    data = {"type": source.type, **data_of(source, keep=is_not_default)}
    return data | source.rename_paths(lambda path: requested_location(path, folder))
