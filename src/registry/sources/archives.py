"""Read the members of zip and tar archives, without unpacking them to disk."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import lzma
import posixpath
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from operator import attrgetter
from typing import IO, Any, NamedTuple, cast

from registry.base.locations import Location, Member, member_name
from registry.boundary.boundary import Limits
from registry.boundary.paths import path_matcher
from registry.decode.bounded import HARMLESS_BYTES
from registry.decode.stream import STAND_IN_START, FirstBytes, open_zstandard, stand_in_fault
from registry.errors import DecodeError, SourceError, close_matches, count_text

__all__ = ["OpenArchive", "match_members", "open_member"]

OpenArchive = Callable[[], AbstractContextManager[IO[bytes], bool | None]]
"""Opens the bytes of an archive; they can seek."""

_LIMITS = Limits()
# The names and attributes in the headers of a tar archive; `tarfile` reads each of them at once.
_LARGEST_HEADER = 1 << 20
_TAR_BLOCK = 512
_CHUNK = 1 << 20
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError)


class _Archive(NamedTuple):
    """An open archive."""

    entries: Mapping[str, Any]
    """Its files: name, without `./` or `/` at the start → entry; the last of several counts."""
    size_of: Callable[[Any], int]
    """Returns the unpacked size of an entry."""
    open: Callable[[Any], Any]
    """Opens an entry."""


class _AbsurdSizeError(Exception):
    """Reading on would unpack more than an archive of this size can sensibly hold."""


@contextlib.contextmanager
def open_member(
    location: Location, open_archive: OpenArchive, limits: Limits = _LIMITS
) -> Iterator[IO[bytes]]:
    """Open the member at a location for reading; `open_archive` opens the outermost archive.

    Raises:
        SourceError: the archive has no such member, or it is encrypted or absurdly large.
        DecodeError: the archive is damaged.
    """
    with _opened(location, open_archive, limits) as (archive, name, limit):
        if name not in archive.entries:
            near = _near(name, archive.entries)
            files = count_text(len(archive.entries), "file")
            hint = f"did you mean {near}?" if near else f"it has {files}"
            raise SourceError(f"{location.public}: no such member ({hint})")
        entry = archive.entries[name]
        if archive.size_of(entry) > limit:
            raise _AbsurdSizeError
        try:
            member = archive.open(entry)
        except (RuntimeError, NotImplementedError) as error:
            # zipfile's errors for encrypted members and for unknown methods of compression.
            message = f"can't be unpacked: {error} (unpack it yourself, and name the file)"
            raise SourceError(f"{location.public}: {message}") from error
        with member:
            yield member


def match_members(
    location: Location, open_archive: OpenArchive, limits: Limits = _LIMITS
) -> list[Location]:
    """Return the locations of the members that a glob matches, sorted by name.

    Raises:
        SourceError, DecodeError: as in `open_member`.
    """
    with _opened(location, open_archive, limits) as (archive, pattern, limit):
        # A name may look like a glob, as that of a local file may.
        if pattern in archive.entries:
            found = [pattern]
        else:
            found = sorted(filter(path_matcher(pattern), archive.entries))
        if len(found) > limits.files:
            message = limits.message("files", "the glob matches", "members")
            raise SourceError(f"{location.public}: {message}")
        # Members may share their bytes, so that all together are larger than any archive.
        if sum(archive.size_of(archive.entries[name]) for name in found) > limit:
            raise _AbsurdSizeError
    protocol, _, outer = cast("Member", location.member)
    return [Location(f"{protocol}://{name}::{outer}") for name in found]


@contextlib.contextmanager
def _opened(
    location: Location, open_archive: OpenArchive, limits: Limits
) -> Iterator[tuple[_Archive, str, int]]:
    """Yield the open archive of a member, the member's name, and the largest allowed size."""
    protocol, member, outer = cast("Member", location.member)
    if outer.member is not None:  # the archive is itself a member
        open_archive = partial(open_member, outer, open_archive, limits)
    shown = location.public
    with open_archive() as data:
        packed_bytes = data.seek(0, io.SEEK_END)
        data.seek(0)
        limit = min(limits.unpacked_bytes, max(HARMLESS_BYTES, limits.ratio * packed_bytes))
        try:
            yield _ARCHIVES[protocol](data, limit), member_name(member), limit
        except _AbsurdSizeError as error:
            key = "ratio" if limit < limits.unpacked_bytes else "unpacked_bytes"
            message = (
                f"would unpack to more than {limit:,} bytes, the limit for an archive of"
                f" {packed_bytes:,} bytes (unpack it yourself if you trust it, or raise"
                f" `limits: {{{key}: …}}` in the root index)"
            )
            raise SourceError(f"{shown}: {message}") from error
        except (*_DAMAGE, OSError) as error:
            # gzip and bz2 report damage as OSErrors without an errno.
            if isinstance(error, OSError) and error.errno is not None:
                raise
            data.seek(0)
            message = stand_in_fault(data.read(STAND_IN_START))
            message = message or f"the {protocol} archive is damaged, or not one: {error}"
            raise DecodeError(message, file=shown) from error


def _zip(data: IO[bytes], _: int) -> _Archive:
    archive = zipfile.ZipFile(data)
    files = (entry for entry in archive.infolist() if not entry.is_dir())
    entries = {member_name(entry.filename): entry for entry in files}
    return _Archive(entries, attrgetter("file_size"), archive.open)


def _tar(data: IO[bytes], limit: int) -> _Archive:
    unpacked = _TarBytes(_unpacked(data), limit)
    archive = tarfile.TarFile(fileobj=cast("IO[bytes]", unpacked))
    entries = {member_name(entry.name): entry for entry in _entries(archive) if entry.isreg()}
    # `tarfile` takes a damaged header for the end, which is a block of zeros.
    unpacked.seek(archive.offset)
    if unpacked.read(_TAR_BLOCK).strip(b"\0"):
        raise tarfile.ReadError(f"no header at byte {archive.offset}")
    unpacked.is_listed = True
    return _Archive(entries, attrgetter("size"), archive.extractfile)


def _entries(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the entries of an archive, which ends even if one of them leads back to itself."""
    try:
        for entry in tar:
            if tar.offset <= entry.offset:
                raise tarfile.ReadError(f"a negative size at byte {entry.offset}")
            yield entry
    # `tarfile` leaves these to its caller: what is no number, and too many headers of one entry.
    except (ValueError, ArithmeticError, LookupError, RecursionError) as error:
        raise tarfile.ReadError(f"no valid header at byte {tar.offset}") from error


class _TarBytes:
    """The unpacked bytes of a tar archive; listing it can't exhaust memory or time."""

    def __init__(self, data: IO[bytes], limit: int) -> None:
        self._data = data
        self._limit = limit
        self.is_listed = False

    def read(self, size: int) -> bytes:
        if size < 0:  # all the rest
            raise tarfile.ReadError("a negative size")
        if not self.is_listed and size > _LARGEST_HEADER:
            raise _AbsurdSizeError
        return self._data.read(size)

    def seek(self, position: int) -> int:
        if not self.is_listed and position > self._limit:
            raise _AbsurdSizeError
        return self._data.seek(position)

    def tell(self) -> int:
        return self._data.tell()

    def seekable(self) -> bool:
        return True


class _Zstandard:
    """The bytes that Zstandard has compressed; to seek back is to begin again, as with gzip."""

    def __init__(self, data: IO[bytes]) -> None:
        self._data = data
        self._size = data.seek(0, io.SEEK_END)
        self._begin()

    def _begin(self) -> None:
        self._data.seek(0)
        packed = cast("IO[bytes]", FirstBytes(self._data, self._size))
        self._unpacked, self._position = open_zstandard(packed), 0

    def read(self, size: int) -> bytes:
        found = self._unpacked.read(size)
        self._position += len(found)
        return found

    def seek(self, position: int) -> int:
        if position < self._position:
            self._begin()
        while self._position < position and self.read(min(_CHUNK, position - self._position)):
            pass
        return self._position

    def tell(self) -> int:
        return self._position


_UNPACKERS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
    b"\x28\xb5\x2f\xfd": _Zstandard,
}
_ARCHIVES: dict[str, Callable[[IO[bytes], int], _Archive]] = {"zip": _zip, "tar": _tar}


def _unpacked(data: IO[bytes]) -> IO[bytes]:
    """Return the bytes of a tar archive, which may be compressed as a whole under any name."""
    start = data.read(6)
    data.seek(0)
    for magic, unpack in _UNPACKERS.items():
        if start.startswith(magic):
            return cast("IO[bytes]", unpack(data))
    return data


def _near(name: str, names: Mapping[str, Any]) -> str:
    """Return the names that may have been meant: in this folder, in another one, or similar."""
    base = posixpath.basename(name)
    inside = [one for one in names if one.startswith(f"{name.rstrip('/')}/")]
    elsewhere = [one for one in names if posixpath.basename(one) == base]
    found: Sequence[str] = elsewhere or inside or close_matches(name, names)
    return " or ".join(f"'{one}'" for one in found[:3])
