"""Read local data files as far as `validate` may: in the folder of the index, within limits."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any, BinaryIO

from registry.base.local_files import FileState
from registry.base.locations import Location, member_name
from registry.boundary.boundary import Boundary
from registry.boundary.paths import list_files, path_matcher
from registry.decode import DECODERS, decode
from registry.decode.stream import SourceBytes, open_bytes
from registry.errors import DecodeError, SourceError
from registry.manifest.models import DatasetSpec
from registry.manifest.source import Source
from registry.manifest.source_models import FileSource

__all__ = [
    "NotUnpackedError",
    "data_patterns",
    "data_states",
    "local_records",
    "member_names",
    "unpacked_file",
    "zip_members",
]


_MOST_MEMBERS = 10_000
_END = b"PK\x05\x06"

_MOST_BYTES = 1 << 26
"""Size of the JSON files of a source that are searched for a column, in total."""
_MOST_UNPACKED = 1 << 24
"""The same for a compressed one, which may expand to any size."""
_START = 1 << 20
"""How much of a compressed file is read if all its records have the columns of the first."""

FileRecords = tuple[bool, Iterator[Mapping[str, Any]]]
"""Whether the records of a file may have different columns, and the records."""


class NotUnpackedError(Exception):
    """A file is too large, or is damaged, so that nothing can be said about its records."""


def unpacked_file(file: SourceBytes, most: int, *, is_start_enough: bool) -> SourceBytes:
    """Return a compressed file with its unpacked content.

    Args:
        file: The file.
        most: How many bytes are unpacked.
        is_start_enough: Whether a larger file is cut to its first rows.

    Raises:
        NotUnpackedError: it is larger, not compressed as its name says, or no readable member.
        DecodeError: it is damaged.
    """
    try:
        with open_bytes(file) as opened:
            data = _read(opened, most + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError) as error:
        raise NotUnpackedError from error  # a member that is damaged, or encrypted
    if len(data) > most:
        if not is_start_enough or b"\n" not in data:
            raise NotUnpackedError
        data = data[: data.rindex(b"\n") + 1]
    location = file.location.removesuffix(file.location.packed_suffix)
    return SourceBytes(Location(location), partial(io.BytesIO, data))


def _read(file: IO[bytes], most: int) -> bytes:
    """Read until the end or the limit; one call may return less."""
    chunks: list[bytes] = []
    while most > 0 and (chunk := file.read(most)):
        chunks.append(chunk)
        most -= len(chunk)
    return b"".join(chunks)


def zip_members(pattern: str, archive: BinaryIO) -> Iterator[SourceBytes]:
    """Yield the members of a ZIP archive that a name or glob matches, sorted by name.

    Raises:
        NotUnpackedError: it is no ZIP archive, or has too many members.
    """
    with archive:
        names = member_names(archive)
        matches = [pattern] if pattern in names else filter(path_matcher(pattern), names)
        with zipfile.ZipFile(archive) as opened:
            for name in sorted(matches):
                yield SourceBytes(Location(name), partial(opened.open, names[name]))


def member_names(archive: BinaryIO) -> dict[str, zipfile.ZipInfo]:
    """Return the members of a ZIP archive by their names.

    Raises:
        NotUnpackedError: it is no ZIP archive, or has too many members.
    """
    # `ZipFile` reads the whole directory, so look at the number of its entries first.
    archive.seek(0, io.SEEK_END)
    archive.seek(max(0, archive.tell() - (1 << 16)))
    end = archive.read().rpartition(_END)[2]
    if int.from_bytes(end[6:8], "little") > _MOST_MEMBERS:
        raise NotUnpackedError
    try:
        with zipfile.ZipFile(archive) as opened:
            files = (info for info in opened.infolist() if not info.is_dir())
            return {member_name(info.filename): info for info in files}
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise NotUnpackedError from error


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
    if not all(one.is_path for one in source.paths()):
        return None
    boundary = Boundary().allowing([str(folder)])
    try:
        files = [file for path in source.paths() for file in _files(path, source, boundary)]
    except (NotUnpackedError, DecodeError, SourceError, OSError):
        return None  # `outside-path` reports it or the user allowed it; or only the build can tell
    sizes = (FileState.or_absent(file.local_path or "").size for file in files)
    if not files or (source.columns_vary and sum(sizes) > _MOST_BYTES):
        return None
    columns = {**source.columns, **dict.fromkeys(source.captures, "")}
    return [
        (source.columns_vary, ({**record, **columns} for record in decode(file, source)))
        for file in files
    ]


def _files(path: Location, source: FileSource, boundary: Boundary) -> Iterator[SourceBytes]:
    """Yield the files that a path names, those that are compressed as their unpacked content."""
    most = _MOST_UNPACKED if source.columns_vary or source.type == "parquet" else _START
    # The first rows of a file with a header are enough; the others are read to the end.
    is_start_enough = most == _START
    member = path.member
    if member is not None:
        archive = boundary.open_file(member.archive.local_path())
        for found in zip_members(member_name(member.path), archive):
            yield unpacked_file(found, most, is_start_enough=is_start_enough)
        return
    for file in list_files(path.local_path(), boundary):
        opened = SourceBytes(Location(file), partial(boundary.open_file, file), file)
        if Location(file).packed_suffix:
            opened = unpacked_file(opened, most, is_start_enough=is_start_enough)
        yield opened


def data_patterns(spec: DatasetSpec) -> list[tuple[str, str]]:
    """Return what a check may depend on: a folder, and the path or glob of files in it."""
    return [
        (str(spec.folder), path.local_path())
        for source in spec.all_sources
        for path in source.paths()
        if path.is_path
    ]


def data_states(folder: str, pattern: str) -> list[tuple[str, FileState]]:
    """Return the files in a folder that a path or glob matches now, with their states."""
    try:
        found = list_files(pattern, Boundary().allowing([folder]))
    except SourceError:
        return []
    return [(file, FileState.or_absent(file)) for file in found]
