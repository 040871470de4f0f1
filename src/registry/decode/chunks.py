"""Split the bytes of a file into blocks of complete lines, and parse them in parallel."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING

from registry.decode.frame import AnyFrame, NotColumnarError

if TYPE_CHECKING:
    from typing import IO

__all__ = ["line_blocks", "parse_blocks", "read_start"]

# Small blocks are faster: touching new memory for the first time takes longer than parsing it.
_BLOCK_BYTES = 1 << 20
_FIRST_BLOCKS = 4
"""Blocks that the first one is as large as."""
_SMALL_BLOCKS = 8
"""Up to as many, a file is parsed as one: a thread for the rest costs more than it saves."""
_MOST_BYTES = 1 << 29
# Each block that is parsed ahead takes memory: its bytes, and the columns made of them.
_MOST_AHEAD = 8
_MOST_AHEAD_BYTES = 1 << 25


def read_start(data: IO[bytes]) -> tuple[bytes, bool]:
    """Return the first bytes of a file, a block and one more at most, and whether they are all."""
    start = b""
    while len(start) <= _BLOCK_BYTES:
        found = data.read(_BLOCK_BYTES + 1 - len(start))
        if not found:
            return start, True
        start += found
    return start, False


def line_blocks(
    data: IO[bytes],
    *,
    most: int = _MOST_BYTES,
    size: int | None = None,
    start: bytes = b"",
    known: int | None = None,
) -> Iterator[bytearray]:
    """Yield the bytes of a file in blocks of about `size` bytes that end at line boundaries.

    Args:
        data: The file.
        most: The largest number of bytes of a line.
        size: That of blocks.
        start: Bytes that were read of it already.
        known: Number of all bytes, if it is known.

    Raises:
        NotColumnarError: a line has more than `most` bytes, or more than 512 MiB.
    """
    most = min(most, _MOST_BYTES)  # pyarrow counts the bytes of a block in 32 bits
    # A file that has no more than the first block is parsed without a thread.
    is_small = known is not None and known <= _SMALL_BLOCKS * _BLOCK_BYTES
    wanted = size or (_SMALL_BLOCKS if is_small else _FIRST_BLOCKS) * _BLOCK_BYTES
    rest = b""  # the start of a line that is not complete yet
    while True:
        # The size doubles while no line ends, so that a long line is not copied many times.
        most_bytes = len(rest) + max(wanted, len(rest))
        wanted = size or _BLOCK_BYTES
        # It grows by what is read: memory for a whole block takes longer to clear than a small file
        # to parse.
        block = bytearray(rest)
        block += start
        start = b""
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


def parse_blocks(
    blocks: Iterator[bytearray],
    parse: Callable[[bytearray], AnyFrame],
    *,
    is_one_enough: Callable[[], bool] = lambda: False,
) -> Iterator[AnyFrame]:
    """Yield the frames of blocks in order, parsing as many blocks ahead as there are cores.

    Args:
        blocks: The blocks.
        parse: What returns the frame of a block, in a thread.
        is_one_enough: Whether a single block is parsed ahead from now on.
    """
    first, second = next(blocks, None), next(blocks, None)
    if first is None or second is None:  # a thread takes longer to start than a small file to parse
        yield from map(parse, [] if first is None else [first])
        return
    blocks = chain([first, second], blocks)
    ahead = min(os.cpu_count() or 1, _MOST_AHEAD)
    waiting: deque[tuple[Future[AnyFrame], int]] = deque()

    def read_ahead() -> None:
        most = 1 if is_one_enough() else ahead
        while len(waiting) < most and sum(size for _, size in waiting) < _MOST_AHEAD_BYTES:
            block = next(blocks, None)
            if block is None:
                return
            waiting.append((pool.submit(parse, block), len(block)))

    with ThreadPoolExecutor(ahead, thread_name_prefix="decode") as pool:
        try:
            read_ahead()
            while waiting:
                frame = waiting.popleft()[0].result()
                read_ahead()
                yield frame
        finally:  # the caller may stop early, which must not wait for blocks that it won't use
            for future, _ in waiting:
                future.cancel()
