"""Compute what a lockfile stores of a manifest: portable locations and a digest of the spec."""

from __future__ import annotations

import os
from pathlib import Path, PurePath
from typing import Any

from registry.base.digest import digest_of
from registry.base.locations import Location
from registry.manifest.models import DatasetSpec
from registry.manifest.serialize import data_of, is_not_default, with_order
from registry.manifest.source import Source
from registry.settings import builtin_root

__all__ = ["location_in", "portable", "requested_location", "spec_digest"]

_BUILTIN = "package:registry/"
_QUERY = "?…"
_DOCUMENTATION = frozenset(
    {"name", "folder", "description", "homepage", "license", "access", "tags", "languages"}
    | {"deprecated", "split"}
)
_NO_EFFECT = {"expect", "accept", "eval", "fewshot", "companion", "is_original"}


def portable(location: Location, folder: Path) -> str:
    """Return a location that is valid on all machines: relative to `folder`, or a public URL.

    If another catalog extends the built-in one, a path in the latter starts with
    `package:registry/`. A path that shares only the file system's root with `folder` stays
    absolute.
    """
    return str(location.with_file(lambda file: _portable_file(file, folder)))


def _portable_file(location: Location, folder: Path) -> str:
    if not location.is_path:
        return location.public
    path = PurePath(location.local_path())
    shipped = builtin_root().parent
    # In a checkout `folder` may be the built-in catalog itself, whose own paths are relative.
    if not path.is_relative_to(folder) and path.is_relative_to(shipped):
        return _BUILTIN + path.relative_to(shipped).as_posix()
    if Path(os.path.commonpath([path, folder])) == Path(path.anchor):
        return path.as_posix()
    return PurePath(os.path.relpath(path, folder)).as_posix()


def location_in(folder: Path, name: str) -> Location:
    """Return the location on this machine of a portable name."""
    return Location(name).with_file(lambda file: _file_in(folder, file))


def _file_in(folder: Path, name: Location) -> str:
    if name.startswith(_BUILTIN):
        return str(builtin_root().parent / name.removeprefix(_BUILTIN))
    if not name.is_path:
        return name
    return os.path.normpath(folder / name)


def requested_location(path: Location, folder: Path) -> str:
    """Return the name in a lockfile of a path, glob or URL in a manifest.

    The query of a URL may be secret, but may also select the data, so such a URL is hashed.
    """
    name = portable(path, folder)
    if path.is_local or not name.endswith(_QUERY):
        return name
    return digest_of([name, path.partition("?")[2]])


def spec_digest(spec: DatasetSpec) -> str:
    """Return the digest of everything in a spec that determines the samples, on any machine.

    It excludes documentation, checks, `eval`, and keys with their default value, so that a key
    added by a later version does not make every pin stale.
    """
    data = data_of(spec, without=_DOCUMENTATION | _NO_EFFECT, keep=is_not_default)
    folder = spec.folder
    data["source"] = _source(spec.source, folder)
    data["concat"] = [_source(source, folder) for source in spec.concat]
    if spec.join is not None:
        data["join"]["source"] = _source(spec.join.source, folder)
        data["join"].pop("strict", None)  # a check, as `expect`
    if spec.corrections is not None:
        data["corrections"] = _source(spec.corrections, folder)
    if spec.examples is not None and spec.companion is not None:
        data["fewshot"] = data_of(spec.examples, keep=is_not_default)
        data["companion"] = spec_digest(spec.companion)
    return digest_of(with_order(data))


def _source(source: Source, folder: Path) -> dict[str, Any]:
    data = {"type": source.type, **data_of(source, keep=is_not_default)}
    data.pop("mirrors", None)  # places of bytes that a digest identifies
    return data | source.rename_paths(lambda path: requested_location(Location(path), folder))
