"""Expand paths and globs to locations of files."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from functools import partial
from glob import has_magic
from typing import TYPE_CHECKING

from registry.base.digest import digest_of
from registry.base.locations import Location
from registry.base.packages import package_location
from registry.boundary.paths import list_files
from registry.errors import SourceError
from registry.sources.filesystem import FilesystemPool, missing_error, offline_error
from registry.sources.opening import open_location

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.sources.archives import OpenArchive
    from registry.sources.pins import SourceContext

__all__ = ["Opener", "expand", "expand_or_recall"]


Opener = Callable[[Location], "OpenArchive"]
"""Returns how to open an archive at a location."""


def expand(
    path: Location, pool: FilesystemPool, open_archive: Opener, boundary: Boundary
) -> list[Location]:
    """Return the locations that a path or glob matches; those of a glob are sorted by name.

    Raises:
        ReachError: a glob leads outside the boundary.
        SourceError: a glob matches nothing, or the file system does not support globs.
    """
    if not _is_glob(path):
        return [path]
    if path.member is not None:
        from registry.sources.archives import match_members  # few datasets are in archives

        found = match_members(path, open_archive(path.file), boundary.limits)
        if not found:
            raise SourceError(f"{path.public}: no member matches")
        return found
    # A local file may have a name that looks like a glob.
    if path.is_local and os.path.exists(path.local_path()):
        return [path]
    if path.is_local:
        files = list_files(path.local_path(), boundary.of_location(path))
        if path.is_package:
            files = [package_location(path, file) for file in files]
        found = [*map(Location, files)]
    else:
        names = pool.ask(path, lambda files, path: map(files.unstrip_protocol, files.glob(path)))
        found = sorted(map(Location, names))
        if len(found) > boundary.limits.files:
            message = boundary.limits.message("files", "the glob matches", "files")
            raise SourceError(f"{path.public}: {message}")
    if not found:
        raise missing_error(path, "no file matches")
    return found


def expand_or_recall(
    paths: Sequence[Location], pool: FilesystemPool, context: SourceContext
) -> dict[Location, list[Location]]:
    """Expand each path; offline, a remote glob has the result of its last expansion.

    Raises:
        OfflineError: a remote glob was never expanded.
    """
    open_archive = partial(_opener, pool=pool, context=context)
    if all(path.is_local or not _is_glob(path) for path in paths):
        return {path: expand(path, pool, open_archive, context.boundary) for path in paths}
    key = digest_of({"paths": list(paths), "options": dict(pool.options)})
    if not context.offline:
        found = {path: expand(path, pool, open_archive, context.boundary) for path in paths}
        context.cache.remember(key, {"found": found})
        return found
    known = context.cache.recall(key, "found")
    if known is None:
        raise offline_error(paths[0])
    return {Location(path): [*map(Location, found)] for path, found in known["found"].items()}


def _opener(location: Location, *, pool: FilesystemPool, context: SourceContext) -> OpenArchive:
    """Return how to open an archive; a remote one is downloaded to the blobs."""
    if location.is_local:
        return partial(open_location, location, {}, context.boundary)
    from registry.sources.remote_files import fetch_blob, pin_remote

    blob = fetch_blob(pin_remote(location, pool, context), pool, context)
    return lambda: blob.open("rb")


@functools.lru_cache(maxsize=256)
def _is_glob(path: Location) -> bool:
    if path.member is not None:
        return has_magic(path.member.path)
    # In a URL `?` starts the query, and HTTP has no way to list files.
    return has_magic(path) and path.protocol not in ("http", "https")
