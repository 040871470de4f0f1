"""Streams that end with an error before they exhaust memory: unpacked bytes, and long lines."""

from __future__ import annotations

import codecs
import io
from typing import IO, TYPE_CHECKING, Any, cast

from registry.errors import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.boundary.boundary import Limits

__all__ = ["HARMLESS_BYTES", "LimitedLines", "first_line_over", "limited_bytes"]

HARMLESS_BYTES = 1 << 30
"""Data that is read piece by piece may be this large, however small it was packed."""


def limited_bytes(
    unpacked: IO[bytes], packed: IO[bytes], limits: Limits, *, file: str, harmless: int
) -> IO[bytes]:
    """Return unpacked bytes that end with a DecodeError where they exceed a limit.

    Args:
        unpacked: The unpacked bytes.
        packed: What they are unpacked from.
        limits: The limits.
        file: Its location, for messages.
        harmless: Bytes that it may have without regard to how small it was packed.
    """
    return cast("IO[bytes]", _Unpacked(unpacked, packed, limits, file=file, harmless=harmless))


class _Unpacked(io.RawIOBase):
    """The unpacked bytes of a stream, within limits on their number."""

    def __init__(
        self, unpacked: IO[bytes], packed: IO[bytes], limits: Limits, *, file: str, harmless: int
    ) -> None:
        super().__init__()
        self._unpacked = unpacked
        self._packed = packed
        self._limits = limits
        self._file = file
        self._harmless = min(harmless, limits.unpacked_bytes)
        self._position = 0  # not every stream that can't seek has `tell`

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._unpacked.seekable()

    def read(self, size: int = -1, /) -> bytes:
        if size < 0:
            return self.readall()  # in pieces
        data = self._unpacked.read(size)
        self._position += len(data)
        self._check()
        return data

    def readinto(self, buffer: Any, /) -> int:
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def tell(self) -> int:
        return self._position

    def seek(self, position: int, whence: int = 0, /) -> int:
        self._position = self._unpacked.seek(position, whence)
        self._check()
        return self._position

    def _check(self) -> None:
        size, limits = self._position, self._limits
        if size <= self._harmless:
            return
        if size > limits.unpacked_bytes:
            message = limits.message("unpacked_bytes", "the file unpacks to", "bytes")
            raise DecodeError(message, file=self._file)
        if message := limits.ratio_fault(size, self._packed.tell()):
            raise DecodeError(message, file=self._file)


class LimitedLines(io.RawIOBase):
    """The bytes of a text file, which end with an error where a line, or all of it, is too long."""

    def __init__(
        self, data: IO[bytes], most: int, exceeded: Callable[[int], DecodeError], encoding: str
    ) -> None:
        """Limit what is read.

        Args:
            data: Any object with `read`.
            most: Bytes that a line may have.
            exceeded: Returns the error for a line that starts at a byte; -1 if it is unknown.
            encoding: How the text is encoded; "" if the limit is for all of it.
        """
        super().__init__()
        self._data = data
        self._most = most
        self._exceeded = exceeded
        self._ends: tuple[bytes, ...] | None = None if encoding else ()
        # In UTF-16 the byte of a line feed is also a part of other characters.
        is_plain = not encoding or "\n".encode(encoding) == b"\n"
        self._decoder = None if is_plain else codecs.getincrementaldecoder(encoding)("replace")
        self._read = self._line = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read into a buffer, and follow where lines start."""
        chunk = self._data.read(len(buffer))
        buffer[: len(chunk)] = chunk
        lines = chunk
        if self._decoder is not None:
            try:
                lines = self._decoder.decode(chunk).encode("utf-8", "replace")
            except UnicodeError:  # UTF-16 without a mark; whoever reads the text reports it
                lines = b"\n"
        self._follow_lines(lines)
        return len(chunk)

    def _follow_lines(self, chunk: bytes) -> None:
        """Find out where the last line starts; raise an error for one that is too long."""
        if self._ends is None:
            # Readers of lines take a CR for a line end, too, if there is one at the start.
            self._ends = (b"\n", b"\r") if b"\r" in chunk else (b"\n",)
        start, self._read = self._read, self._read + len(chunk)
        while self._read - self._line > self._most:
            if not self._move_to_line_end(chunk, start, self._line + self._most + 1):
                raise self._exceeded(-1 if self._decoder else self._line)
        self._move_to_line_end(chunk, start, self._read)

    def _move_to_line_end(self, chunk: bytes, start: int, before: int) -> bool:
        """Move on to the last line that starts in a chunk and before a byte; False if none does."""
        first = max(self._line - start, 0)
        end = max((chunk.rfind(one, first, before - start) for one in self._ends or ()), default=-1)
        if end >= 0:
            self._line = start + end + 1
        return end >= 0


def first_line_over(data: IO[bytes], start: int) -> int:
    """Return the number of the line that starts at a byte of a stream."""
    number = 1
    while start > 0 and (chunk := data.read(min(start, 1 << 18))):
        number += chunk.count(b"\n") or chunk.count(b"\r")
        start -= len(chunk)
    return number
