"""Open a file to decode as decompressed bytes or as text."""

from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import io
import lzma
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from registry.base.locations import packed_suffix
from registry.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

__all__ = ["SourceBytes", "is_html", "is_utf8", "open_bytes", "open_text"]


@dataclass(frozen=True)
class SourceBytes:
    """A file of a source: its name for messages, and how to open its bytes."""

    location: str
    """Path or URL without secrets; its suffix decides compression and whether JSON is by lines."""
    open: Callable[[], AbstractContextManager[IO[bytes], bool | None]]
    """Opens the bytes for reading."""
    local_path: str | None = None
    """Path of a local file with these bytes, if there is one."""

    @classmethod
    def of_file(cls, location: str, path: Path) -> SourceBytes:
        """Return the local file at `path`, named `location` in messages."""
        return cls(location, lambda: path.open("rb"), str(path))


def _open_zstandard(file: IO[bytes]) -> IO[bytes]:
    import pyarrow as pa

    return cast("IO[bytes]", pa.CompressedInputStream(pa.PythonFile(file, "r"), "zstd"))


_OPENERS: dict[str, Callable[[IO[bytes]], IO[bytes]]] = {
    ".gz": lambda file: cast("IO[bytes]", gzip.open(file)),  # noqa: SIM115 (its reader closes it)
    ".bz2": lambda file: cast("IO[bytes]", bz2.open(file)),  # noqa: SIM115
    ".xz": lambda file: cast("IO[bytes]", lzma.open(file)),  # noqa: SIM115
    ".zst": _open_zstandard,
}
_HTML = (b"<!doctype html", b"<html")


@contextlib.contextmanager
def open_bytes(file: SourceBytes) -> Iterator[IO[bytes]]:
    """Open the decompressed bytes; damaged compressed data is a DecodeError."""
    opener = _OPENERS.get(packed_suffix(file.location))
    with file.open() as raw:
        try:
            yield raw if opener is None else opener(raw)
        except (EOFError, lzma.LZMAError, zlib.error, gzip.BadGzipFile) as error:
            message = f"the compressed data is damaged or truncated: {error}"
            raise DecodeError(message, file=file.location) from error
        except OSError as error:
            # bz2 and pyarrow's zstd report damage as OSErrors without an errno.
            if opener is None or error.errno is not None:
                raise
            message = f"the compressed data is damaged or truncated: {error}"
            raise DecodeError(message, file=file.location) from error


@contextlib.contextmanager
def open_text(file: SourceBytes, encoding: str) -> Iterator[io.TextIOWrapper]:
    """Open a file as text; an HTML page in its place is a DecodeError.

    CRLF and CR become LF, also inside quoted cells, as in Inspect's loaders.
    """
    with open_bytes(file) as data:
        buffer = io.BufferedReader(_Raw(data), buffer_size=1 << 18)
        if is_html(buffer.peek(256)[:256]):
            message = "this is an HTML page, not data (an error or login page? check the location)"
            raise DecodeError(message, file=file.location)
        try:
            codec = codecs.lookup(encoding)
        except LookupError:
            codec = None
        # `lookup` also finds codecs that convert bytes to bytes, such as base64.
        if codec is None or not getattr(codec, "_is_text_encoding", True):
            raise DecodeError(f"unknown text encoding '{encoding}'", file=file.location)
        # "utf-8-sig" accepts a byte-order mark but does not require one.
        text = io.TextIOWrapper(buffer, encoding="utf-8-sig" if codec.name == "utf-8" else encoding)
        try:
            yield text
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            message = f"byte {byte:#04x} is not {encoding} (set `encoding`, such as latin-1)"
            line = _undecodable_line(file, encoding)
            raise DecodeError(message, file=file.location, line=line) from error
        except UnicodeError as error:  # UTF-16 without a byte-order mark
            raise DecodeError(f"not {encoding}: {error}", file=file.location) from error


def is_utf8(encoding: str) -> bool:
    """Return whether an encoding is UTF-8 under any of its names."""
    try:
        return codecs.lookup(encoding).name in ("utf-8", "utf-8-sig")
    except LookupError:
        return False


class _Raw(io.RawIOBase):
    """Wraps an object with `read` as the raw stream that `io.BufferedReader` requires."""

    def __init__(self, data: IO[bytes]) -> None:
        self._data = data

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        chunk = self._data.read(len(buffer))
        buffer[: len(chunk)] = chunk
        return len(chunk)


def _undecodable_line(file: SourceBytes, encoding: str) -> int | None:
    """Return the number of the first line that can't be decoded; this reads the file again."""
    # A buffered decoder knows neither the line nor the position in the file.
    if "\n".encode(encoding) != b"\n":  # UTF-16: bytes can't be split into lines
        return None
    with open_bytes(file) as data:
        for number, line in enumerate(io.BufferedReader(_Raw(data)), 1):
            try:
                line.decode(encoding)
            except UnicodeDecodeError:
                return number
    return None


def is_html(start: bytes) -> bool:
    """Return whether the first bytes of a file are those of an HTML page."""
    return start.removeprefix(codecs.BOM_UTF8).lstrip().lower().startswith(_HTML)
