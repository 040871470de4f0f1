"""Unpack compressed files and members of ZIP archives in memory, up to a limit."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from functools import partial
from typing import IO, BinaryIO

from registry.base.locations import packed_suffix
from registry.boundary.paths import path_matcher
from registry.decode.stream import SourceBytes, open_bytes

__all__ = ["NotUnpackedError", "member_names", "unpacked_file", "zip_members"]

_MOST_MEMBERS = 10_000
_END = b"PK\x05\x06"


class NotUnpackedError(Exception):
    """A file is too large, or is damaged, so that nothing can be said about its records."""


def unpacked_file(file: SourceBytes, most: int, *, is_start_enough: bool) -> SourceBytes:
    """Return a compressed file with its unpacked content.

    Args:
        file: The file.
        most: How many bytes are unpacked.
        is_start_enough: Whether a larger file is cut to its first rows.

    Raises:
        NotUnpackedError: it is larger, or not compressed as its name says.
        DecodeError: it is damaged.
    """
    with open_bytes(file) as opened:
        data = _read(opened, most + 1)
    if len(data) > most:
        if not is_start_enough or b"\n" not in data:
            raise NotUnpackedError
        data = data[: data.rindex(b"\n") + 1]
    location = file.location.removesuffix(packed_suffix(file.location))
    return SourceBytes(location, partial(io.BytesIO, data))


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
        try:
            with zipfile.ZipFile(archive) as opened:
                for name in sorted(matches):
                    yield SourceBytes(name, partial(opened.open, name))
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise NotUnpackedError from error  # damaged, or encrypted


def member_names(archive: BinaryIO) -> list[str]:
    """Return the names of the members of a ZIP archive.

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
            return [info.filename for info in opened.infolist() if not info.is_dir()]
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise NotUnpackedError from error
