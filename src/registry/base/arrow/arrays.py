"""Convert between lists, numpy and Arrow arrays without importing pandas.

`pa.array`, `pa.scalar` and `to_numpy` import pandas if it is installed, which takes longer than
everything else in opening or building a small dataset. The functions here do not.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "SCALARS",
    "array_of",
    "int64_array",
    "is_text",
    "list_offsets",
    "masked_array",
    "ranges",
    "repeat_string",
    "string_scalar",
    "to_array",
    "to_numpy_int64",
]

SCALARS: dict[type, pa.DataType] = {
    str: pa.large_string(),
    int: pa.int64(),
    float: pa.float64(),
    bool: pa.bool_(),
}
"""Type of Python → the type of its Arrow columns."""

_FEW_VALUES = 1 << 13
"""Up to so many are converted here; more of them justify the import of pandas."""


def int64_array(numbers: NDArray[Any]) -> pa.Array:
    """Return integers as an int64 array; contiguous int64 input is shared, not copied."""
    values = np.ascontiguousarray(numbers, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])


def to_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Return what `pa.array` returns for a list of a known type, or raise what it raises."""
    convert = _CONVERTERS.get(kind) if _is_faster(values) else None
    found = None if convert is None else convert(values)
    return pa.array(values, kind) if found is None else found


def _is_faster(values: Sequence[Any]) -> bool:
    """Return whether a list is best converted without pyarrow, which would import pandas first."""
    return len(values) <= _FEW_VALUES and "pandas" not in sys.modules


def masked_array(values: NDArray[Any], is_null: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return what `pa.array` returns for a one-dimensional array and a mask."""
    is_bool = values.dtype == np.bool_
    data = np.packbits(values, bitorder="little") if is_bool else np.ascontiguousarray(values)
    validity = None
    if is_null is not None and is_null.any():
        validity = pa.py_buffer(np.packbits(~is_null, bitorder="little"))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [validity, pa.py_buffer(data)])


def _text_array(values: Sequence[str | None]) -> pa.Array | None:
    types: set[type] = {str}
    present = values
    try:
        joined = "".join(values)  # type: ignore[arg-type]
    except TypeError:  # looking at each type first would take longer than to join most lists
        types = set(map(type, values))
        if not types <= {str, NoneType}:
            return None
        present = [value or "" for value in values]
        joined = "".join(present)  # type: ignore[arg-type]
    if joined.isascii():
        data, lengths = joined.encode(), map(len, present)  # type: ignore[arg-type]
    else:
        try:
            encoded = list(map(str.encode, present))  # type: ignore[arg-type]
        except UnicodeEncodeError:
            return None
        data, lengths = b"".join(encoded), map(len, encoded)
    buffers = [_validity(values, types), _offsets_buffer(lengths, len(values)), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(values), buffers)


def _bytes_array(values: Sequence[bytes | None]) -> pa.Array | None:
    types = set(map(type, values))
    if not types <= {bytes, NoneType}:
        return None
    present = [value or b"" for value in values] if NoneType in types else values
    offsets = _offsets_buffer(map(len, present), len(values))  # type: ignore[arg-type]
    data = pa.py_buffer(b"".join(present))  # type: ignore[arg-type]
    buffers = [_validity(values, types), offsets, data]
    return pa.Array.from_buffers(pa.large_binary(), len(values), buffers)


def _number_array(kind: pa.DataType, wanted: type, width: Any) -> _Convert:
    def convert(values: Sequence[Any]) -> pa.Array | None:
        types = set(map(type, values))
        if not types <= {wanted, NoneType}:
            return None
        present = (
            [0 if value is None else value for value in values] if NoneType in types else values
        )
        try:
            data = np.array(present, width)
        except OverflowError:
            return None
        buffers = [_validity(values, types), pa.py_buffer(data)]
        return pa.Array.from_buffers(kind, len(values), buffers)

    return convert


def _bool_array(values: Sequence[Any]) -> pa.Array | None:
    types = set(map(type, values))
    if not types <= {bool, NoneType}:
        return None
    data = np.packbits(np.array([value or False for value in values], np.bool_), bitorder="little")
    buffers = [_validity(values, types), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.bool_(), len(values), buffers)


def _text_lists(values: Sequence[list[str] | None]) -> pa.Array | None:
    types = set(map(type, values))
    if not types <= {list, NoneType}:
        return None
    present = [value or [] for value in values] if NoneType in types else values
    items = _text_array(list(chain.from_iterable(present)))  # type: ignore[arg-type]
    if items is None:
        return None
    offsets = _offsets_buffer(map(len, present), len(values))  # type: ignore[arg-type]
    buffers = [_validity(values, types), offsets]
    return pa.Array.from_buffers(_TEXT_LIST, len(values), buffers, children=[items])


def _offsets_buffer(lengths: Iterable[int], count: int) -> pa.Buffer:
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.fromiter(lengths, np.int64, count), out=offsets[1:])
    return pa.py_buffer(offsets)


def _validity(values: Sequence[object], types: set[type]) -> pa.Buffer | None:
    if NoneType not in types:
        return None
    bits = np.array([value is not None for value in values], np.bool_)
    return pa.py_buffer(np.packbits(bits, bitorder="little"))


_Convert = Callable[[Sequence[Any]], pa.Array | None]
_TEXT_LIST = pa.large_list(pa.large_string())
_CONVERTERS: dict[pa.DataType, _Convert] = {
    pa.large_string(): _text_array,
    pa.large_binary(): _bytes_array,
    pa.int64(): _number_array(pa.int64(), int, np.int64),
    pa.float64(): _number_array(pa.float64(), float, np.float64),
    pa.bool_(): _bool_array,
    _TEXT_LIST: _text_lists,
}
"""Type → its conversion from lists, None for values that it leaves to pyarrow."""


def to_numpy_int64(column: pa.Array) -> NDArray[np.int64]:
    """Return an integer column without nulls as int64; int64 columns are shared, not copied."""
    values = column if column.type == pa.int64() else column.cast(pa.int64())
    return np.frombuffer(values.buffers()[1], np.int64, len(values), 8 * values.offset)


def is_text(kind: pa.DataType) -> bool:
    """Return whether a type is that of strings."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def array_of(values: Sequence[Any], *, missing: object = None) -> pa.Array | None:
    """Return str, int, float, bool or lists of str as an Arrow column; None for other values.

    Args:
        values: Values of one type; None is a null.
        missing: Another value that is a null.
    """
    types = set(map(type, values))
    absent = type(missing) in types
    types -= {NoneType, type(missing)}
    if not types:
        return pa.nulls(len(values), pa.large_string())
    if len(types) > 1:
        return None
    (kind,) = types
    if absent:
        values = [None if value is missing else value for value in values]
    if kind is list:
        found = _text_lists(values) if _is_faster(values) else None
        if found is not None:
            return found
        items = set(map(type, chain.from_iterable(filter(None, values))))
        if not items <= {str, NoneType}:
            return None
        wanted = pa.large_list(pa.large_string())
    elif kind in SCALARS:
        wanted = SCALARS[kind]
    else:
        return None
    try:
        return to_array(values, wanted)
    # An integer beyond 64 bits, or half of a surrogate pair.
    except (OverflowError, UnicodeEncodeError, pa.ArrowException):
        return None


def repeat_string(text: str, count: int) -> pa.Array:
    """Return a large_string array with the same string `count` times."""
    data = text.encode()
    offsets = np.zeros(count + 1, np.int64)
    if data:  # memory that nobody writes to takes no time
        offsets += np.arange(count + 1) * len(data)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data * count)]
    return pa.Array.from_buffers(pa.large_string(), count, buffers)


@functools.lru_cache(maxsize=1 << 8)  # a few constants of a mapping, for each of its blocks
def string_scalar(text: str) -> pa.Scalar:
    """Return a string as a large_string scalar."""
    return repeat_string(text, 1)[0]


def list_offsets(column: pa.Array) -> NDArray[np.int64]:
    """Return the offsets of a large_list, large_string or large_binary array.

    Row `i` has the items (or bytes) from `offsets[i]` to `offsets[i + 1]`, so there is one more
    offset than there are rows.
    """
    buffer = column.buffers()[1]
    if buffer is None:  # an array of nulls may have no offsets
        return np.zeros(len(column) + 1, np.int64)
    return np.frombuffer(buffer, np.int64, len(column) + 1, 8 * column.offset)


def ranges(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return `range(length)` for each of the lengths, concatenated."""
    ends = np.cumsum(lengths)
    return np.arange(lengths.sum()) - np.repeat(ends - lengths, lengths)
