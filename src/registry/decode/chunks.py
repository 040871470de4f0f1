"""Bytes of a file in blocks of whole lines, parsed beside each other.

Blocks are small, since memory that was never touched costs more than parsing what is in it.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, cast

from registry.decode.frame import Frame, NotColumnarError

if TYPE_CHECKING:
    from typing import IO

__all__ = ["line_blocks", "parse_blocks"]

_BLOCK_BYTES = 1 << 22
_MOST_BYTES = 1 << 30
_MOST_AHEAD = 8


def line_blocks(data: IO[bytes]) -> Iterator[bytearray]:
    """Yield the bytes of a file in blocks, each from the start of a line to the end of one.

    Raises:
        NotColumnarError: a line has more than 1 GiB.
    """
    kept = b""
    while True:
        block = bytearray(len(kept) + max(_BLOCK_BYTES, len(kept)))
        block[: len(kept)] = kept
        filled = _fill(data, block, len(kept))
        if filled == len(kept):
            break
        if filled > _MOST_BYTES:  # pyarrow counts the bytes of a block in 32 bits
            raise NotColumnarError("a line of more than 1 GiB")
        del block[filled:]
        end = block.rfind(b"\n") + 1
        kept = bytes(memoryview(block)[end:])
        if end:
            del block[end:]
            yield block
    if kept:
        yield bytearray(kept)


def _fill(data: IO[bytes], block: bytearray, start: int) -> int:
    """Read into a block from a place on; return where the bytes that were read end."""
    # Some streams, such as those of pyarrow, have `readinto` but no type that says so.
    read_into = cast("Callable[[memoryview], int | None]", data.readinto)  # type: ignore[attr-defined]
    with memoryview(block) as view:
        while start < len(block) and (count := read_into(view[start:])):
            start += count
    return start


def parse_blocks(
    blocks: Iterator[bytearray], parse: Callable[[bytearray], Frame]
) -> Iterator[Frame]:
    """Yield the frames of blocks in order; as many are parsed ahead as there are cores."""
    ahead = min(os.cpu_count() or 1, _MOST_AHEAD)
    with ThreadPoolExecutor(ahead, thread_name_prefix="decode") as pool:
        waiting = deque(pool.submit(parse, block) for block in islice(blocks, ahead))
        try:
            while waiting:
                frame = waiting.popleft().result()
                block = next(blocks, None)
                if block is not None:
                    waiting.append(pool.submit(parse, block))
                yield frame
        finally:
            for future in waiting:
                future.cancel()
