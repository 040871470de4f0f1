"""Expand paths and globs to locations of files."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from functools import partial
from glob import has_magic
from typing import TYPE_CHECKING, Any

from registry.base.digest import digest_of
from registry.base.locations import (
    archive_of,
    is_local,
    is_package,
    local_path,
    protocol_of,
    public_location,
    split_member,
)
from registry.base.packages import package_location
from registry.boundary.paths import list_files
from registry.errors import SourceError
from registry.sources.filesystem import (
    missing_error,
    offline_error,
)
from registry.sources.filesystem_pool import FilesystemPool
from registry.sources.opening import open_location

if TYPE_CHECKING:
    from registry.boundary.boundary import Boundary
    from registry.sources.archives import OpenArchive
    from registry.sources.pins import SourceContext

__all__ = ["Opener", "expand", "expand_or_recall"]


Opener = Callable[[str], "OpenArchive"]
"""Returns how to open an archive at a location."""


def expand(path: str, pool: FilesystemPool, open_archive: Opener, boundary: Boundary) -> list[str]:
    """Return the locations that a path or glob matches; those of a glob are sorted by name.

    Raises:
        ReachError: a glob leads outside the boundary.
        SourceError: a glob matches nothing, or the file system does not support globs.
    """
    if not _is_glob(path):
        return [path]
    if split_member(path) is not None:
        from registry.sources.archives import match_members  # few datasets are in archives

        found = match_members(path, open_archive(archive_of(path)), boundary.limits)
        if not found:
            raise SourceError(f"{public_location(path)}: no member matches")
        return found
    # A local file may have a name that looks like a glob.
    if is_local(path) and os.path.exists(local_path(path)):
        return [path]
    if is_local(path):
        found = list_files(local_path(path), boundary.of_location(path))
        if is_package(path):
            found = [package_location(path, file) for file in found]
    else:
        found = pool.ask(path, _glob)
        if len(found) > boundary.limits.files:
            message = boundary.limits.message("files", "the glob matches", "files")
            raise SourceError(f"{public_location(path)}: {message}")
    if not found:
        raise missing_error(path, "no file matches")
    return found


def expand_or_recall(
    paths: Sequence[str], pool: FilesystemPool, context: SourceContext
) -> dict[str, list[str]]:
    """Expand each path; offline, a remote glob has the result of its last expansion.

    Raises:
        OfflineError: a remote glob was never expanded.
    """
    open_archive = partial(_opener, pool=pool, context=context)
    if all(is_local(path) or not _is_glob(path) for path in paths):
        return {path: expand(path, pool, open_archive, context.boundary) for path in paths}
    key = digest_of({"paths": list(paths), "options": dict(pool.options)})
    if not context.offline:
        found = {path: expand(path, pool, open_archive, context.boundary) for path in paths}
        context.cache.remember(key, {"found": found})
        return found
    known = context.cache.recall(key, "found")
    if known is None:
        raise offline_error(paths[0])
    return dict(known["found"])


def _opener(location: str, *, pool: FilesystemPool, context: SourceContext) -> OpenArchive:
    """Return how to open an archive; a remote one is downloaded to the blobs."""
    if is_local(location):
        return partial(open_location, location, {}, context.boundary)
    from registry.sources.remote_files import fetch_blob, pin_remote

    blob = fetch_blob(pin_remote(location, pool, context), pool, context)
    return lambda: blob.open("rb")


def _glob(files: Any, path: str) -> list[str]:
    return sorted(files.unstrip_protocol(name) for name in files.glob(path))


@functools.lru_cache(maxsize=256)
def _is_glob(path: str) -> bool:
    parts = split_member(path)
    if parts is not None:
        return has_magic(parts[1])
    # In a URL `?` starts the query, and HTTP has no way to list files.
    return has_magic(path) and protocol_of(path) not in ("http", "https")
