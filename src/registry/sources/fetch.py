"""The bytes of files that are pinned: on this machine, in the blobs, or fetched into these."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any

from registry.base.file_state import FileState
from registry.base.fs import file_sha256
from registry.base.locations import is_local, local_path, public_location
from registry.decode.stream import SourceBytes
from registry.sources.files import (
    FilesystemPool,
    changed_error,
    download,
    expand,
    offline_error,
)
from registry.sources.filesystem import open_location, source_errors
from registry.sources.pins import PinnedFile, SourceContext, SourcePin

__all__ = ["fetch_files", "open_files"]


def open_files(paths: Sequence[str], options: Mapping[str, Any]) -> list[SourceBytes]:
    """Return files to read straight from where they are, for the loaders."""
    return [
        SourceBytes(public_location(location), partial(open_location, location, options))
        for location in expand(paths, options)
    ]


def fetch_files(
    options: Mapping[str, Any], pinned: SourcePin, context: SourceContext
) -> list[SourceBytes]:
    """Return the files of a pin, remote ones from the blobs."""
    pool = FilesystemPool(options)
    return [_fetch_one(file, pool, context) for file in pinned.files]


def _fetch_one(file: PinnedFile, pool: FilesystemPool, context: SourceContext) -> SourceBytes:
    shown = public_location(file.location)
    if is_local(file.location):
        path = Path(local_path(file.location))
        return SourceBytes(shown, partial(_open_unchanged, path, file), str(path))
    if not file.sha256:
        if context.offline:
            raise offline_error(file.location)
        name = shown.removesuffix("?…")
        return SourceBytes(name, partial(open_location, file.location, pool.options, part=True))
    path = context.cache.blob(file.sha256)
    if not _is_sound(path, file):
        if context.offline:
            raise offline_error(file.location)
        with context.cache.working("blobs", file.sha256):
            if not _is_sound(path, file):
                download(file.location, pool, None, context, pinned=file)
    return SourceBytes.of_file(shown.removesuffix("?…"), path)


def _is_sound(path: Path, file: PinnedFile) -> bool:
    # A blob is read for a build, which takes longer than to hash it.
    return path.exists() and file_sha256(path) == file.sha256


@contextlib.contextmanager
def _open_unchanged(path: Path, file: PinnedFile) -> Iterator[IO[bytes]]:
    """Open a local file that is still what was pinned, and make sure that it stays so."""
    with source_errors(str(path)):
        before = FileState.of(path)
        if before.size != file.size or file.state not in (None, before):
            raise changed_error(str(path))
        with path.open("rb") as opened:
            yield opened
        if FileState.of(path) != before:
            raise changed_error(str(path))
