"""Open a file to decode as decompressed bytes or as text, or split its bytes into whole lines."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import lzma
import re
import zlib
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from encodings.aliases import aliases
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Protocol, cast

from registry.base.escape import escape_control
from registry.base.local_files import LFS_POINTER
from registry.base.locations import Location
from registry.boundary.boundary import UNLIMITED, Limits
from registry.decode.bounded import HARMLESS_BYTES, LimitedLines, first_line_over, limited_bytes
from registry.decode.frame import NotColumnarError
from registry.errors import DecodeError, close_matches, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from contextlib import AbstractContextManager

__all__ = [
    "HARMLESS_DOCUMENT",
    "STAND_IN_START",
    "ByteRange",
    "CountedValues",
    "FirstBytes",
    "PositionedFile",
    "Ranges",
    "RowGroups",
    "SourceBytes",
    "is_stand_in",
    "is_utf8",
    "line_blocks",
    "line_ranges",
    "open_bytes",
    "open_text",
    "open_zstandard",
    "stand_in_fault",
    "text_codec",
    "unknown_encoding",
]


@dataclass(frozen=True)
class RowGroups:
    """Row groups of a Parquet file, one after the other."""

    first: int
    stop: int
    rows_before: int
    """Rows of the file in the groups before them."""


@dataclass(frozen=True)
class ByteRange:
    """Bytes of a file, from a line's start to a line's end."""

    start: int
    stop: int


class Ranges(Protocol):
    """A remote file of which parts are read; of no more than they need."""

    def read(self, size: int = -1, /) -> bytes:
        """Return the bytes at the position, all that are asked for."""

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a position."""

    def tell(self) -> int:
        """Return the position."""

    def expect(self, parts: Sequence[range]) -> None:
        """Request parts that will be read, each from its start on."""


class PositionedFile(io.RawIOBase):
    """A file with a position, read by whoever knows its size and has its bytes."""

    _position = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def tell(self) -> int:
        """Return the position."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Go to a position."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position}
        self._position = (start[whence] if whence in start else self._end()) + offset
        return self._position

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the bytes at the position, all that are asked for."""
        end = self._end()
        stop = end if size is None or size < 0 else min(end, self._position + size)
        parts = []
        while self._position < stop and (found := self._read_some(stop)):
            parts.append(found)
            self._position += len(found)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    @abstractmethod
    def _end(self) -> int:
        """Return the size of the file."""

    @abstractmethod
    def _read_some(self, stop: int) -> bytes:
        """Return bytes from the position on, at least one unless the file has become shorter."""


def merged(parts: Iterable[range], size: int, near: int) -> list[range]:
    """Return the parts that are in a file in order; those with at most `near` between are one."""
    found: list[range] = []
    for part in sorted(parts, key=lambda one: one.start):
        start, stop = max(0, part.start), min(part.stop, size)
        if start >= stop:
            continue
        if found and start - found[-1].stop <= near:
            found[-1] = range(found[-1].start, max(stop, found[-1].stop))
        else:
            found.append(range(start, stop))
    return found


@dataclass(frozen=True)
class SourceBytes:
    """A file of a source: its name for messages, and how to open its bytes."""

    location: Location
    """Path or URL without secrets; its suffix decides compression and whether JSON is by lines."""
    open: Callable[[], AbstractContextManager[IO[bytes], bool | None]]
    """Opens the bytes for reading."""
    local_path: str | None = None
    """Path of a local file with these bytes, if there is one."""
    limits: Limits = UNLIMITED
    """How large it may be."""
    ranges: Callable[[], AbstractContextManager[Ranges, bool | None]] | None = None
    """Opens a remote file for reading parts of it; None if `open` does not read it from there."""
    row_groups: RowGroups | None = None
    """The part of a Parquet file that is read; None for all of it."""

    @classmethod
    def of_file(cls, location: str, path: Path) -> SourceBytes:
        """Return the local file at `path`, named `location` in messages."""
        return cls(Location(location), lambda: path.open("rb"), str(path))

    def part(self, part: ByteRange) -> SourceBytes:
        """Return a part of a file, as a file."""

        @contextlib.contextmanager
        def opened() -> Iterator[IO[bytes]]:
            with self.open() as data:
                data.seek(part.start)
                yield cast("IO[bytes]", FirstBytes(data, part.stop - part.start))

        return replace(self, open=opened, local_path=None)


class FirstBytes(io.RawIOBase):
    """The next bytes of a file, and no more; the file stays open."""

    def __init__(self, data: IO[bytes], size: int) -> None:
        """Begin where the file is."""
        super().__init__()
        self._data = data
        self._left = size

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read into a buffer."""
        found = self._data.read(min(len(buffer), self._left))
        buffer[: len(found)] = found
        self._left -= len(found)
        return len(found)


def open_zstandard(file: IO[bytes]) -> IO[bytes]:
    """Open bytes that Zstandard has compressed; the result can't seek."""
    import pyarrow as pa

    return cast("IO[bytes]", pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd"))


_OPENERS: dict[str, Callable[[IO[bytes]], IO[bytes]]] = {
    ".gz": lambda file: cast("IO[bytes]", gzip.open(file)),  # noqa: SIM115 (its reader closes it)
    ".bz2": lambda file: cast("IO[bytes]", bz2.open(file)),  # noqa: SIM115
    ".xz": lambda file: cast("IO[bytes]", lzma.open(file)),  # noqa: SIM115
    ".zst": open_zstandard,
}
_HTML = (b"<!doctype html", b"<html")
_TITLE = re.compile(rb"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
_START_OF_LINE = re.compile(rb"\n(?=[^\xef])")
"""The end of a line before another one, which has no byte-order mark."""
STAND_IN_START = 1 << 12
"""Bytes of a page in which its title is looked for."""
HARMLESS_DOCUMENT = 1 << 24
"""Bytes of a packed document that may be any times as small; its values take much more memory."""
_CONTAINER_BYTES, _ITEM_BYTES = 64, 56
"""Memory of an empty dict or list, and of an item with a short value, in CPython."""
_PER_BYTE, _PER_PACKED_BYTE = 8, 2
"""Memory that values of a document may take for each byte that a document may have."""


@contextlib.contextmanager
def open_bytes(file: SourceBytes, *, harmless: int = HARMLESS_BYTES) -> Iterator[IO[bytes]]:
    """Open the decompressed bytes.

    Damaged compressed data is a DecodeError, and so is data that is larger than `harmless` and
    larger than the limits allow.
    """
    opener = _OPENERS.get(file.location.packed_suffix)
    with file.open() as raw:
        try:
            if opener is None:
                yield raw
            else:
                name = file.location
                yield limited_bytes(opener(raw), raw, file.limits, file=name, harmless=harmless)
        except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
            message = f"the compressed data is damaged or truncated: {error}"
            raise DecodeError(message, file=file.location) from error
        except OSError as error:
            # bz2 and pyarrow's zstd report damage as OSErrors without an errno.
            if opener is None or error.errno is not None:
                raise
            message = f"the compressed data is damaged or truncated: {error}"
            raise DecodeError(message, file=file.location) from error


class CountedValues:
    """The bytes of a JSON document, which end with an error where its values take too much memory.

    They are counted by their signs, also those in strings, before any is parsed: `{},` takes 40
    times its bytes.
    """

    def __init__(self, data: IO[bytes], file: SourceBytes) -> None:
        """Count nothing yet."""
        self._data = data
        self._file = file
        self._is_packed = bool(file.location.packed_suffix or file.location.member)
        factor = _PER_PACKED_BYTE if self._is_packed else _PER_BYTE
        self._most = factor * file.limits.document_bytes
        self._size = 0

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes.

        Raises:
            DecodeError: the values so far take too much memory.
        """
        from registry.base.arrow import count_byte  # pyarrow is slow to import

        found = self._data.read(size)
        self._size += (count_byte("{", found) + count_byte("[", found)) * _CONTAINER_BYTES
        self._size += count_byte(",", found) * _ITEM_BYTES
        if self._size > self._most:
            what = f"the values of the document may take more than {self._most:,} bytes of memory"
            how = "unpack it, or write" if self._is_packed else "write"
            raised = "`limits: {document_bytes: …}` in the root index raises the limit"
            message = f"{what} ({how} JSON Lines, which are read line by line; {raised})"
            raise DecodeError(message, file=self._file.location)
        return found


@contextlib.contextmanager
def open_text(
    file: SourceBytes, encoding: str, *, as_document: bool = False
) -> Iterator[io.TextIOWrapper]:
    """Open a file as text; an HTML page or a pointer of Git LFS in its place is a DecodeError.

    CRLF and CR become LF, also inside quoted cells, as in Inspect's loaders.

    Args:
        file: The file.
        encoding: Its encoding.
        as_document: Whether it is read as a whole, so that its size counts and not its lines'.
    """
    codec = text_codec(encoding)
    harmless = HARMLESS_DOCUMENT if as_document else HARMLESS_BYTES
    with open_bytes(file, harmless=harmless) as data:
        counted = cast("IO[bytes]", CountedValues(data, file)) if as_document else data
        raw = _bounded(counted, file, encoding if codec and not as_document else "")
        buffer = io.BufferedReader(raw, buffer_size=1 << 18)
        if message := stand_in_fault(buffer.peek(STAND_IN_START)[:STAND_IN_START]):
            raise DecodeError(message, file=file.location)
        if codec is None:
            raise unknown_encoding(encoding, file.location)
        # "utf-8-sig" accepts a byte-order mark but does not require one.
        text = io.TextIOWrapper(buffer, encoding="utf-8-sig" if codec.name == "utf-8" else encoding)
        try:
            yield text
        except UnicodeError as error:
            # Before Python 3.13, only errors that name a byte are of this type.
            if not isinstance(error, UnicodeDecodeError) or "BOM" in error.reason:
                message = f"not {encoding}: it does not start with a byte-order mark"
                raise DecodeError(message, file=file.location) from error
            byte = error.object[error.start]
            message = f"byte {byte:#04x} is not {encoding} (set `encoding`, such as latin-1)"
            line = _undecodable_line(file, encoding)
            raise DecodeError(message, file=file.location, line=line) from error


def text_codec(encoding: str) -> codecs.CodecInfo | None:
    """Return the codec of a text encoding under any of its names; None if there is none."""
    try:
        codec = codecs.lookup(encoding)
    except (LookupError, ValueError):  # such as a name with a null character
        return None
    # `lookup` also finds codecs that convert bytes to bytes, such as base64.
    return codec if getattr(codec, "_is_text_encoding", True) else None


def unknown_encoding(encoding: str, file: str) -> DecodeError:
    """Return the error for a file whose text encoding does not exist."""
    similar = filter(text_codec, close_matches(encoding, [*aliases, *aliases.values()]))
    hint = did_you_mean(encoding, similar)
    message = f"unknown text encoding '{encoding}'" + (f" ({hint})" if hint else "")
    return DecodeError(message, file=file)


def is_utf8(encoding: str) -> bool:
    """Return whether an encoding is UTF-8 under any of its names."""
    codec = text_codec(encoding)
    return codec is not None and codec.name in ("utf-8", "utf-8-sig")


def _bounded(data: IO[bytes], file: SourceBytes, encoding: str) -> io.RawIOBase:
    """Return a stream with limited lines; without an encoding, with a limited size."""
    limits = file.limits

    def exceeded(start: int) -> DecodeError:
        if not encoding:
            message = limits.message("document_bytes", "the document has", "bytes")
            return DecodeError(message, file=file.location)
        line = None
        if start >= 0:
            with open_bytes(file) as again:
                line = first_line_over(again, start)
        message = limits.message("line_bytes", "the line has", "bytes")
        return DecodeError(message, file=file.location, line=line)

    most = limits.line_bytes if encoding else limits.document_bytes
    return LimitedLines(data, most, exceeded, encoding)


def _undecodable_line(file: SourceBytes, encoding: str) -> int | None:
    """Return the number of the first line that can't be decoded; this reads the file again."""
    # A buffered decoder knows neither the line nor the position in the file.
    if "\n".encode(encoding) != b"\n":  # UTF-16: bytes can't be split into lines
        return None
    with open_bytes(file) as data:
        for number, line in enumerate(io.BufferedReader(_bounded(data, file, encoding)), 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError:
                return number
    return None


def is_stand_in(start: bytes) -> bool:
    """Return whether a file starts like an HTML page, or is a pointer of Git LFS."""
    text = start.removeprefix(codecs.BOM_UTF8).lstrip().lower()
    return text.startswith(_HTML) or LFS_POINTER.fullmatch(start) is not None


def stand_in_fault(start: bytes) -> str:
    """Return what to say of the first bytes of a file in place of data; "" for other bytes.

    The title of a page tells most: "Sign in", "Quota exceeded", "Virus scan warning".
    """
    if not is_stand_in(start[:256]):
        return ""
    if LFS_POINTER.fullmatch(start):
        return "this is a pointer of Git LFS, not the data (`git lfs pull` gets it)"
    title = _TITLE.search(start)
    words = " ".join(title[1].decode("utf-8", "replace").split()) if title else ""
    named = f"titled '{escape_control(words)}'; " if words else ""
    return f"this is an HTML page, not data ({named}an error or login page? check the location)"


def line_blocks(data: IO[bytes], *, size: int, most: int) -> Iterator[bytearray]:
    """Yield the bytes of a file in blocks of about `size` bytes that end at line boundaries.

    Raises:
        NotColumnarError: a line has more than `most` bytes.
    """
    rest = b""  # the start of a line that is not complete yet
    while True:
        # The size doubles while no line ends, so that a long line is not copied many times.
        most_bytes = len(rest) + max(size, len(rest))
        # It grows by what is read: memory for a whole block takes longer to clear than a small file
        # to parse.
        block = bytearray(rest)
        while len(block) < most_bytes and (found := data.read(most_bytes - len(block))):
            block += found
        if len(block) == len(rest):
            break
        end = block.rfind(b"\n") + 1
        if _has_long_line(block, most):
            raise NotColumnarError("a line that is too long")
        rest = bytes(memoryview(block)[end:])
        if end:
            del block[end:]
            yield block
    if rest:
        yield bytearray(rest)


def _has_long_line(block: bytearray, most: int) -> bool:
    start = 0
    while start + most < len(block):
        end = block.rfind(b"\n", start, start + most + 1)
        if end < 0:
            return True
        start = end + 1
    return False


def line_ranges(data: IO[bytes], *, size: int, most: int) -> list[ByteRange]:
    """Divide a file into whole lines of at least `size` bytes each, but for the last part.

    A line of more than `most` bytes, which is an error, is not looked at for its end. No part but
    the first starts with a byte-order mark, which only the start of a file may have.
    """
    end = data.seek(0, io.SEEK_END)
    found, start = [], 0
    while start < end:
        stop = end if end - start <= size else _line_start(data, start + size, most) or end
        found.append(ByteRange(start, stop))
        start = stop
    return found


def _line_start(data: IO[bytes], at: int, most: int) -> int | None:
    """Return where the first line starts at a byte or after it; None if none is near."""
    data.seek(at - 1)
    text = bytearray()
    while len(text) <= most and (more := data.read(1 << 16)):
        seen = max(len(text) - 1, 0)
        text += more
        if line := _START_OF_LINE.search(text, seen):
            return at + line.start()
    return None
