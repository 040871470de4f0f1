"""Read local data files as far as `validate` may: in the folder of the index, within limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from registry.base.file_state import FileState
from registry.base.locations import archive_of, is_path, packed_suffix, split_member
from registry.boundary.boundary import Boundary
from registry.boundary.paths import list_files
from registry.decode import DECODERS, decode
from registry.decode.stream import SourceBytes
from registry.errors import DecodeError, ReachError
from registry.lint.unpacked import NotUnpackedError, unpacked_file, zip_members
from registry.manifest.models import DatasetSpec
from registry.manifest.source import Source
from registry.manifest.source_models import FileSource

__all__ = ["data_patterns", "data_states", "local_records", "path_of"]

_MOST_BYTES = 1 << 26
"""Size of the JSON files of a source that are searched for a column, in total."""
_MOST_UNPACKED = 1 << 24
"""The same for a compressed one, which may expand to any size."""
_START = 1 << 20
"""How much of a compressed file is read if all its records have the columns of the first."""

FileRecords = tuple[bool, Iterator[Mapping[str, Any]]]
"""Whether the records of a file may have different columns, and the records."""


def local_records(source: Source, folder: Path) -> list[FileRecords] | None:
    """Return the records of each file of a source, not read yet; None if they can't be known.

    Args:
        source: The source.
        folder: Only files in this folder are read. `validate` also runs on changes that nobody has
            reviewed yet, and a message with the columns of a file must not reveal another one.
    """
    # A type without a decoder of its own is decoded by its reader, in `sources`.
    if not isinstance(source, FileSource) or source.type not in DECODERS:
        return None
    if not all(map(is_path, source.paths())):
        return None
    boundary = Boundary().allowing([str(folder)])
    try:
        files = [file for path in source.paths() for file in _files(path, source, boundary)]
    except (NotUnpackedError, DecodeError, ReachError, OSError):
        return None  # `outside-path` reports it or the user allowed it; or only the build can tell
    sizes = (FileState.or_absent(file.local_path or "").size for file in files)
    if not files or (source.columns_vary and sum(sizes) > _MOST_BYTES):
        return None
    columns = source.columns
    return [
        (source.columns_vary, ({**record, **columns} for record in decode(file, source)))
        for file in files
    ]


def _files(path: str, source: FileSource, boundary: Boundary) -> Iterator[SourceBytes]:
    """Yield the files that a path names, those that are compressed as their unpacked content."""
    most = _MOST_UNPACKED if source.columns_vary or source.type == "parquet" else _START
    # The first rows of a file with a header are enough; the others are read to the end.
    is_start_enough = most == _START
    member = split_member(path)
    if member is not None:
        for found in zip_members(member[1], boundary.open_file(path_of(member[2]))):
            yield unpacked_file(found, most, is_start_enough=is_start_enough)
        return
    for file in list_files(path_of(path), boundary):
        opened = SourceBytes(file, partial(boundary.open_file, file), file)
        if packed_suffix(file):
            opened = unpacked_file(opened, most, is_start_enough=is_start_enough)
        yield opened


def data_patterns(spec: DatasetSpec) -> list[tuple[str, str]]:
    """Return what a check may depend on: a folder, and the path or glob of files in it."""
    return [
        (str(spec.folder), path_of(archive_of(path)))
        for source in spec.all_sources
        for path in source.paths()
        if is_path(path)
    ]


def data_states(folder: str, pattern: str) -> list[tuple[str, FileState]]:
    """Return the files in a folder that a path or glob matches now, with their states."""
    try:
        found = list_files(pattern, Boundary().allowing([folder]))
    except ReachError:
        return []
    return [(file, FileState.or_absent(file)) for file in found]


def path_of(location: str) -> str:
    """Return the path of a local location that is no member of an archive."""
    return location.partition("://")[2] or location
