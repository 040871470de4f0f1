"""Lists from columns, and operations on columns of lists and strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from registry.base.arrow.arrays import (
    int64_array,
    is_text,
    list_offsets,
    ranges,
    repeat_string,
    string_scalar,
    to_numpy_int64,
)
from registry.base.arrow.strings import blank_strings
from registry.mapping.columnar.kernels.arrays import (
    LARGEST_COLUMN,
    NoKernelError,
    as_text_lists,
    bool_array,
    check_size,
    is_text_list,
    list_of,
    null_mask,
    text_of,
    to_large_string,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from registry.mapping.columnar.kernels.arrays import Mask

    Positions = int | NDArray[np.int64]
    """One position for all values, or that of each."""

__all__ = [
    "drop_null",
    "index",
    "items_of",
    "join",
    "length",
    "lists_of_columns",
    "slice_",
    "sort",
    "unique",
    "without_items",
]


def items_of(values: pa.Array) -> tuple[NDArray[np.int64], pa.Array]:
    """Return the offsets and the items of lists of strings without null lists."""
    if not is_text_list(values.type) or values.null_count:
        raise NoKernelError
    lists = as_text_lists(values)
    return list_offsets(lists) - list_offsets(lists)[0], lists.flatten()


def lists_of_columns(columns: Sequence[pa.Array], count: int) -> pa.Array:
    """Return columns as one column of lists: row `i` has their values, or items, in row `i`."""
    check_size(columns, count)
    if not columns:
        return list_of(np.zeros(count + 1, np.int64), repeat_string("", 0))
    parts: list[pa.Array] = []
    starts = np.zeros((count, len(columns)), np.int64)
    lengths = np.ones_like(starts)
    size = 0
    for place, column in enumerate(columns):
        if is_text(column.type):
            starts[:, place] = np.arange(count) + size
            parts.append(to_large_string(column))
        else:  # values of other types are not converted
            offsets, items = items_of(column)
            starts[:, place] = offsets[:-1] + size
            lengths[:, place] = np.diff(offsets)
            parts.append(items)
        size += len(parts[-1])
    each = lengths.ravel()
    order = starts.ravel() if len(each) == size == each.sum() else None
    if order is None or (each != 1).any():
        order = ranges(each) + np.repeat(starts.ravel(), each)
    offsets = np.concatenate([[0], np.cumsum(lengths.sum(axis=1))])
    return list_of(offsets, pa.concat_arrays(parts).take(int64_array(order)))


def index(values: pa.Array, position: Positions) -> pa.Array:
    """Return one item of each list, or one character of each string."""
    if is_text(values.type):
        return _character(text_of(values), position)
    offsets, items = items_of(values)
    lengths = np.diff(offsets)
    place = np.where(np.less(position, 0), position + lengths, position)
    if ((place < 0) | (place >= lengths)).any():
        raise NoKernelError  # an error, which its record reports
    return items.take(int64_array(offsets[:-1] + place))


def _character(text: pa.Array, position: Positions) -> pa.Array:
    if not isinstance(position, int):
        raise NoKernelError
    end = None if position == -1 else position + 1
    characters = pc.utf8_slice_codeunits(text, start=position, stop=end)
    lengths = to_numpy_int64(pc.utf8_length(text))
    if (lengths < (position + 1 if position >= 0 else -position)).any():
        raise NoKernelError
    return characters


def slice_(values: pa.Array, start: Positions | None, end: Positions | None) -> pa.Array:
    """Return the items of each list, or the characters of each string, between two positions."""
    if is_text(values.type):
        if not isinstance(start, int | None) or not isinstance(end, int | None):
            raise NoKernelError
        return pc.utf8_slice_codeunits(text_of(values), start=start or 0, stop=end)
    offsets, items = items_of(values)
    lengths = np.diff(offsets)
    first = np.zeros_like(lengths) if start is None else _clipped(start, lengths)
    last = lengths if end is None else _clipped(end, lengths)
    kept = np.maximum(last - first, 0)
    order = ranges(kept) + np.repeat(offsets[:-1] + first, kept)
    return list_of(np.concatenate([[0], np.cumsum(kept)]), items.take(int64_array(order)))


def _clipped(bound: Positions, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    from_start = np.where(np.less(bound, 0), bound + lengths, bound)
    clipped: NDArray[np.int64] = np.clip(from_start, 0, lengths)
    return clipped


def join(values: pa.Array, argument: str) -> pa.Array:
    """Return the items of each list as one string."""
    offsets, items = items_of(values)
    if items.null_count or items.nbytes + len(items) * len(argument) > LARGEST_COLUMN:
        raise NoKernelError
    return pc.binary_join(list_of(offsets, items), string_scalar(argument))


def length(values: pa.Array, argument: Any) -> pa.Array:
    """Return the number of items or characters."""
    if is_text(values.type):
        return pc.utf8_length(text_of(values)).cast(pa.int64())
    return int64_array(np.diff(items_of(values)[0]))


def drop_null(values: pa.Array, argument: dict[str, bool] | None) -> pa.Array:
    """Return lists without their nulls, and without blank strings if the argument says so."""
    offsets, items = items_of(values)
    dropped = null_mask(items)
    if argument and argument.get("blank"):
        dropped[blank_strings(items)] = True
    return without_items(list_of(offsets, items), items, dropped) if dropped.any() else values


def unique(values: pa.Array, argument: Any) -> pa.Array:
    """Return lists without the items that equal an earlier one."""
    offsets, items = items_of(values)
    encoded = items.dictionary_encode("encode")
    owners = np.repeat(np.arange(len(values)), np.diff(offsets))
    codes = owners * max(len(encoded.dictionary), 1) + to_numpy_int64(encoded.indices)
    is_repeated = np.ones(len(items), np.bool_)
    is_repeated[np.unique(codes, return_index=True)[1]] = False
    if not is_repeated.any():
        return values
    return without_items(list_of(offsets, items), items, is_repeated)


def sort(values: pa.Array, argument: Any) -> pa.Array:
    """Return lists in the order of their strings."""
    offsets, items = items_of(values)
    if items.null_count:
        raise NoKernelError  # an error, which its record reports
    # UTF-8 has the order of the code points, which is Python's.
    ranks = np.empty(len(items), np.int64)
    ranks[to_numpy_int64(pc.array_sort_indices(items))] = np.arange(len(items))
    owners = np.repeat(np.arange(len(values)), np.diff(offsets))
    return list_of(offsets, items.take(int64_array(np.lexsort((ranks, owners)))))


def without_items(lists: pa.LargeListArray, items: pa.Array, dropped: Mask) -> pa.LargeListArray:
    """Remove items from lists, of which none is null."""
    starts = list_offsets(lists) - list_offsets(lists)[0]
    ends = np.concatenate([[0], np.cumsum(~dropped)])[starts]
    return list_of(ends, items.filter(bool_array(~dropped)))
