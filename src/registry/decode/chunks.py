"""Split the bytes of a file into blocks of complete lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from registry.decode.frame import NotColumnarError

if TYPE_CHECKING:
    from typing import IO

__all__ = ["line_blocks"]


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
