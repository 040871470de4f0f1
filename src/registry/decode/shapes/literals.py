"""Find the strings of lines of JSON, by the places of their quotes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import int64_array, masked_array, string_scalar, to_array
from registry.base.processes.forks import cached_property
from registry.decode.repeated_keys import string_ends

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Literals", "UnsureError", "find_literals"]

_WORD = 8
_FEW_ESCAPES, _ESCAPE_BYTES = 1 << 10, 32
"""With more than one escape in so many bytes, a parser is faster."""
_decode_strings = msgspec.json.Decoder(list[str]).decode


class UnsureError(Exception):
    """What the lines mean can't be decided from their shapes."""


@dataclass(frozen=True)
class Literals:
    """The strings of a block of lines, keys among them."""

    block: bytearray
    bounds: NDArray[np.int64]
    """Where the bytes of each string start, after its quote, and where they end, in turn."""
    line_starts: NDArray[np.int64]
    line_ends: NDArray[np.int64]
    firsts: NDArray[np.int64]
    """Number of the first string of each line."""
    counts: NDArray[np.int64]
    """How many strings each line has."""
    escaped: NDArray[np.int64]
    """Numbers of the strings with a backslash, ascending."""

    @cached_property
    def words(self) -> NDArray[np.uint64]:
        """The eight bytes from each place on, as an integer, without a copy."""
        return np.ndarray(max(len(self.block) - _WORD + 1, 0), "<u8", self.block, strides=(1,))

    @cached_property
    def _texts(self) -> pa.Array:
        """The bytes of the strings, each followed by those up to the next one."""
        return strings_between(self.bounds, self.block)

    @cached_property
    def _decoded(self) -> pa.Array:
        """The values of the strings with a backslash."""
        raw = self._texts.take(int64_array(self.escaped * 2))
        whole = pa.LargeListArray.from_arrays([0, len(raw)], raw)
        joined = pc.binary_join(whole, string_scalar('","'))[0].as_buffer()
        try:
            values = _decode_strings(b'["' + joined.to_pybytes() + b'"]')
        except (msgspec.DecodeError, ValueError) as error:
            raise UnsureError from error
        if len(values) != len(raw):
            raise UnsureError
        return to_array(values, pa.large_string())

    @cached_property
    def _ranks(self) -> NDArray[np.int32]:
        """The place of each string in `escaped`; -1 for the others, and for the number -1."""
        ranks = np.full(len(self.bounds) // 2 + 1, -1, np.int32)
        ranks[self.escaped] = np.arange(len(self.escaped), dtype=np.int32)
        return ranks

    def check_escapes(self) -> None:
        """Raise an UnsureError if a string has an invalid escape."""
        if len(self.escaped):
            assert self._decoded is not None  # noqa: S101 (it is decoded by this)

    def values(self, numbers: NDArray[np.int64]) -> pa.Array:
        """Return the values of strings; null for the number -1."""
        missing = numbers < 0
        places = numbers * 2
        indices = masked_array(places, missing) if missing.any() else int64_array(places)
        column = self._texts.take(indices)
        if not len(self.escaped):
            return column
        ranks = self._ranks[numbers]
        has_escape = ranks >= 0
        if not has_escape.any():
            return column
        decoded = self._decoded.take(masked_array(ranks[has_escape]))
        if has_escape.all():
            return decoded
        return pc.replace_with_mask(column, masked_array(has_escape), decoded)


def strings_between(offsets: NDArray[np.int64], block: bytearray) -> pa.Array:
    """Return the bytes of a block from each offset to the next, which must be UTF-8."""
    buffers = [None, pa.py_buffer(np.ascontiguousarray(offsets)), pa.py_buffer(block)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def find_literals(block: bytearray) -> Literals:
    """Return the strings of lines of UTF-8.

    Raises:
        UnsureError: the lines are not JSON, have whitespace other than spaces, or many escapes.
    """
    codes = np.frombuffer(block, np.uint8)
    line_ends = np.flatnonzero(codes < ord(" "))
    if (codes[line_ends] != ord("\n")).any():
        raise UnsureError  # no string may have one
    if not block.endswith(b"\n"):
        line_ends = np.append(line_ends, len(block))
    backslashes = np.flatnonzero(codes == ord("\\")) if b"\\" in block else np.zeros(0, np.int64)
    if len(backslashes) > max(_FEW_ESCAPES, len(block) // _ESCAPE_BYTES):
        raise UnsureError
    quotes = _unescaped_quotes(codes, block, backslashes)
    if quotes is None or not len(quotes) or len(quotes) % 2:
        raise UnsureError
    line_starts = np.concatenate([[0], line_ends[:-1] + 1])
    ends = _quotes_before(line_ends, line_starts, quotes)
    if (ends % 2).any():  # a line that ends within a string
        raise UnsureError
    firsts = np.concatenate([[0], ends[:-1] // 2])
    owners = np.searchsorted(quotes, backslashes) - 1
    if (owners % 2).any():  # a backslash outside of strings
        raise UnsureError
    escaped = owners[np.diff(owners, prepend=-1) != 0] // 2
    counts = np.diff(firsts, append=len(quotes) // 2)
    quotes[::2] += 1  # a copy would be new memory, which takes longer to touch than to fill
    return Literals(block, quotes, line_starts, line_ends, firsts, counts, escaped)


def _unescaped_quotes(
    codes: NDArray[np.uint8], block: bytearray, backslashes: NDArray[np.int64]
) -> NDArray[np.int64] | None:
    """Return the quotes that open and close strings; None if unsure."""
    if (np.diff(backslashes) == 1).any():
        return string_ends(block)
    # Each backslash is the start of an escape, so that a quote after one closes no string.
    quotes = np.flatnonzero(codes == ord('"'))
    return quotes[codes[quotes - 1] != ord("\\")] if len(backslashes) else quotes


def _quotes_before(
    line_ends: NDArray[np.int64], line_starts: NDArray[np.int64], quotes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many quotes there are before the end of each line."""
    each, rest = divmod(len(quotes), len(line_ends))
    if each and not rest:  # often all lines have as many
        lines = quotes.reshape(-1, each)
        if (lines[:, 0] >= line_starts).all() and (lines[:, -1] < line_ends).all():
            return np.arange(1, len(line_ends) + 1) * each
    found: NDArray[np.int64] = np.searchsorted(quotes, line_ends)
    return found
