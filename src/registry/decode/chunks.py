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

__all__ = ["line_blocks", "parse_blocks"]

# Small blocks are faster: touching new memory for the first time takes longer than parsing it.
_BLOCK_BYTES = 1 << 21
_MOST_BYTES = 1 << 29
# Each block that is parsed ahead takes memory: its bytes, and the columns made of them.
_MOST_AHEAD = 8
_MOST_AHEAD_BYTES = 1 << 25


def line_blocks(
    data: IO[bytes], *, most: int = _MOST_BYTES, size: int | None = None
) -> Iterator[bytearray]:
    """Yield the bytes of a file in blocks of about `size` bytes that end at line boundaries.

    Raises:
        NotColumnarError: a line has more than `most` bytes, or more than 512 MiB.
    """
    most = min(most, _MOST_BYTES)  # pyarrow counts the bytes of a block in 32 bits
    # The first block is larger: a file that has no more is parsed without a thread.
    wanted = size or 2 * _BLOCK_BYTES
    rest = b""  # the start of a line that is not complete yet
    while True:
        # The size doubles while no line ends, so that a long line is not copied many times.
        most_bytes = len(rest) + max(wanted, len(rest))
        wanted = size or _BLOCK_BYTES
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


def parse_blocks(
    blocks: Iterator[bytearray], parse: Callable[[bytearray], AnyFrame]
) -> Iterator[AnyFrame]:
    """Yield the frames of blocks in order, parsing as many blocks ahead as there are cores."""
    first, second = next(blocks, None), next(blocks, None)
    if first is None or second is None:  # a thread takes longer to start than a small file to parse
        yield from map(parse, [] if first is None else [first])
        return
    blocks = chain([first, second], blocks)
    ahead = min(os.cpu_count() or 1, _MOST_AHEAD)
    waiting: deque[tuple[Future[AnyFrame], int]] = deque()

    def read_ahead() -> None:
        while len(waiting) < ahead and sum(size for _, size in waiting) < _MOST_AHEAD_BYTES:
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
