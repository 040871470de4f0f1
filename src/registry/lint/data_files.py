"""Read local data files as far as `validate` may: uncompressed ones in the folder of the index."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from registry.base.file_state import FileState
from registry.base.locations import PACKED_SUFFIXES, is_local, is_package, split_member
from registry.boundary.boundary import Boundary
from registry.boundary.paths import list_files
from registry.decode import DECODERS, decode
from registry.decode.stream import SourceBytes
from registry.errors import ReachError
from registry.manifest.models import DatasetSpec
from registry.manifest.source import Source
from registry.manifest.source_models import FileSource

__all__ = ["data_patterns", "data_states", "local_records"]

_MOST_BYTES = 1 << 26
"""Size of the JSON files of a source that are searched for a column, in total."""

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
    if not _all_plain(source.paths()):
        return None
    boundary = Boundary().allowing([str(folder)])
    try:
        files = [file for path in source.paths() for file in list_files(_path(path), boundary)]
    except ReachError:  # reported by `outside-path`, or allowed by the user
        return None
    if not files:
        return None
    if source.columns_vary and sum(FileState.or_absent(file).size for file in files) > _MOST_BYTES:
        return None
    opened = [SourceBytes(file, partial(boundary.open_file, file), file) for file in files]
    columns = source.columns
    return [
        (source.columns_vary, ({**record, **columns} for record in decode(file, source)))
        for file in opened
    ]


def data_patterns(spec: DatasetSpec) -> list[tuple[str, str]]:
    """Return what a check may depend on: a folder, and the path or glob of files in it."""
    sources = [source for source in spec.all_sources if isinstance(source, FileSource)]
    return [
        (str(spec.folder), _path(path))
        for source in sources
        if _all_plain(source.paths())
        for path in source.paths()
    ]


def data_states(folder: str, pattern: str) -> list[tuple[str, FileState]]:
    """Return the files in a folder that a path or glob matches now, with their states."""
    try:
        found = list_files(pattern, Boundary().allowing([folder]))
    except ReachError:
        return []
    return [(file, FileState.or_absent(file)) for file in found]


def _all_plain(paths: Iterable[str]) -> bool:
    # A compressed file may expand to any size.
    return all(
        is_local(path)
        and not is_package(path)
        and split_member(path) is None
        and not path.endswith(PACKED_SUFFIXES)
        for path in paths
    )


def _path(location: str) -> str:
    return location.partition("://")[2] or location
