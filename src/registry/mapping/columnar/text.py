"""Compute `str` of lists and hex digests for whole columns, exactly as Python does by value."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import (
    int64_array,
    list_offsets,
    string_scalar,
    to_array,
    to_numpy_int64,
)
from registry.base.arrow.strings import SCAN_BYTES

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer
    from numpy.typing import NDArray

# Python's own MD5, which a build of Python may lack, starts in half the time of OpenSSL's.
try:
    from _md5 import md5 as _short_md5  # type: ignore[import-not-found]
except ImportError:
    _short_md5 = None

__all__ = ["PLAIN_LETTERS", "hex_digests", "str_of_lists"]

_SHORT = 512
"""Bytes up to which it is also faster in all."""

PLAIN_LETTERS = range(0xC0, 0x240)
"""Letters beyond ASCII that `repr` never escapes, recognizable by their first UTF-8 byte."""

# UTF-8 byte → whether `repr` only puts single quotes around a str that has no other bytes.
_PLAIN = np.zeros(256, np.bool_)
_PLAIN[ord(" ") : ord("~") + 1] = True
_PLAIN[[ord("'"), ord("\\")]] = False
_PLAIN[0x80:0xC0] = True  # continuation bytes: the first byte decides
_PLAIN[[chr(letter).encode()[0] for letter in PLAIN_LETTERS]] = True


def str_of_lists(column: pa.Array) -> pa.Array:
    """Return `str` of each list in a column of lists of strings without null lists.

    Most strings need no escapes; only lists with a string that may need one are passed to Python.
    """
    lists = column.cast(pa.large_list(pa.large_string()))
    inner = pc.binary_join(lists, string_scalar("', '"))
    quoted = (string_scalar("['"), inner, string_scalar("']"))
    fast = pc.binary_join_element_wise(*quoted, string_scalar(""))
    by_python = np.flatnonzero(_may_differ(lists))
    if not len(by_python):
        return fast
    # Replace the rows in `by_python`: append Python's versions, and take these in their place.
    exact = list(map(str, lists.take(int64_array(by_python)).to_pylist()))
    order = np.arange(len(lists))
    order[by_python] = len(lists) + np.arange(len(by_python))
    both = pa.concat_arrays([fast, to_array(exact, pa.large_string())])
    return both.take(int64_array(order))


def _may_differ(lists: pa.LargeListArray) -> NDArray[np.bool_]:
    """Return which lists are empty, or have a null or a string that `repr` may escape."""
    items = lists.flatten()
    rows = list_offsets(lists) - list_offsets(lists)[0]
    starts = list_offsets(items)
    data = np.frombuffer(items.buffers()[2] or b"", np.uint8)[starts[0] : starts[-1]]
    escaped = _escaped_places(data) + starts[0]
    nulls = to_numpy_int64(pc.indices_nonzero(items.is_null()))
    # From the position of a byte to its item, and from the item to its list. "right" skips empty
    # items and lists, which start at the same position as the next one.
    places = np.concatenate([np.searchsorted(starts, escaped, side="right") - 1, nulls])
    differs: NDArray[np.bool_] = np.diff(rows) == 0
    differs[np.searchsorted(rows, places, side="right") - 1] = True
    return differs


def _escaped_places(data: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the places of the bytes that are not plain."""
    parts = []
    for start in range(0, len(data), SCAN_BYTES):
        part = data[start : start + SCAN_BYTES]
        # Comparisons take a fraction of the time of a table, which few bytes then need.
        is_other = (part - ord(" ") > ord("~") - ord(" ")) | (part == ord("'"))
        is_other |= part == ord("\\")
        places = np.flatnonzero(is_other)
        parts.append(places[~_PLAIN[part[places]]] + start)
    return np.concatenate([np.zeros(0, np.int64), *parts])


def hex_digests(columns: Sequence[pa.Array], *, algorithm: str, length: int | None) -> pa.Array:
    """Return for each row the hex digest of its strings in several columns, joined with NUL."""
    joined = pc.binary_join_element_wise(*columns, string_scalar("\0"))
    offsets = list_offsets(joined)
    digest_of = _digest_function(algorithm, int(offsets[-1] - offsets[0]) // max(len(joined), 1))
    texts = joined.view(pa.large_binary()).to_pylist()  # faster than slices of the buffer
    digests = b"".join([digest_of(text).digest() for text in texts])
    # All digests have the same width, so that one slice of the matrix shortens them all.
    count, width = len(joined), 2 * digest_of(b"").digest_size
    digits = np.frombuffer(digests.hex().encode(), np.uint8).reshape(count, width)
    digits = np.ascontiguousarray(digits[:, :length])
    starts = np.arange(count + 1, dtype=np.int64) * digits.shape[1]
    buffers = [None, pa.py_buffer(starts), pa.py_buffer(digits)]
    return pa.Array.from_buffers(pa.large_string(), count, buffers)


def _digest_function(algorithm: str, size: int) -> Callable[[ReadableBuffer], hashlib._Hash]:
    """Return the fastest function for strings of an average size."""
    if algorithm == "md5" and size < _SHORT and _short_md5 is not None:
        function: Callable[[ReadableBuffer], hashlib._Hash] = _short_md5
        return function
    slower: Callable[..., hashlib._Hash] = getattr(hashlib, algorithm)
    return partial(slower, usedforsecurity=False)
